# LangChain (@langchain/openai), nginx with TLS, the real daemon
# and the demo model.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Js;

Pen::Js::whole_site('langchain.mjs');
done_testing;
