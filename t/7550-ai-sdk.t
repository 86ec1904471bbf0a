# The AI SDK (ai, @ai-sdk/openai-compatible), nginx with TLS, the real daemon
# and the demo model.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Js;

Pen::Js::whole_site('ai-sdk.mjs');
done_testing;
