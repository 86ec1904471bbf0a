# Every row of `penstock compat` for chat and completions, by its rule.
use strict;
use warnings;
use lib 't/lib';
use Pen::Fields;

Pen::Fields::check('t/data/api/fields.tsv', qw(chat completions));
