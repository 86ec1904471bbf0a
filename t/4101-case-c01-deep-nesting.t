# Case C01: deep nesting, broken JSON and an empty body are a quick 400.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

my %body = (
    '10,000 levels in an unknown field' =>
        chat('"x":' . '[' x 10_000 . '0' . ']' x 10_000),
    '3,000 levels of objects' =>
        chat('"x":' . '{"a":' x 3_000 . '0' . '}' x 3_000),
    '3,000 levels in tools' => chat('"tools":' . '[' x 3_000 . ']' x 3_000),
    'a member without a name' => '{:"model":"m"}',
    'an empty body' => '',
    'a million open brackets' => '[' x 1_000_000,
);
named($body{$_}, undef, $_) for sort keys %body;
my ($status) = check(chat('"x":' . '[' x 64 . '0' . ']' x 64));
is($status, 200, '64 levels in an unknown field are accepted');
my $schema = '{}';
$schema = qq({"type":"object","properties":{"p":$schema}}) for 1 .. 60;
my $deep = chat('"tools":[{"type":"function","function":{"name":"f",'
    . qq("parameters":$schema}}]));
named($deep, undef, 'a schema of 60 levels');
my (undef, $e) = check($deep);
like($e->{message}, qr/^JSON text is nested deeper than 96 levels/,
    'which says the limit');
# The cap of the documentation is the parser's.
sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/; <$in> }
my ($cap) = slurp('src/json/read.h') =~ /^#define JSON_DEPTH_MAX (\d+)/m;
like(slurp('docs/api.md'), qr/may nest $cap levels deep/, 'the cap is documented');
done_testing();
