# Every row of `penstock compat` for responses, by its rule.
use strict;
use warnings;
use lib 't/lib';
use Pen::Fields;

Pen::Fields::check('t/data/api/fields_responses.tsv', 'responses');
