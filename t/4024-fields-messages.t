# Every row of `penstock compat` for messages, by its rule.
use strict;
use warnings;
use lib 't/lib';
use Pen::Fields;

Pen::Fields::check('t/data/api/fields_messages.tsv', 'messages');
