# Every SQL file keeps the contract in its header (docs/architecture.md), and
# the schema of a database that grew step by step is that of a fresh one.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

plan skip_all => 'the sqlite3 shell is not installed'
    unless grep { -x "$_/sqlite3" } split /:/, $ENV{PATH};

my $dir = tempdir(CLEANUP => 1);

sub slurp {
    open my $f, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$f>;
}

# Text into the shell, (status, output) back.
sub sqlite {
    my ($db, $input) = @_;
    open my $f, '>', "$dir/input" or die $!;
    print $f $input;
    close $f;
    my $out = qx(sqlite3 -bail '$db' <'$dir/input' 2>&1);
    return ($? >> 8, $out);
}

my @migrations = sort glob 'sql/[0-9]*.sql';
my @queries    = sort glob 'sql/q/*.sql';
my $makefile   = slurp('src/db/local.mk');

for my $i (0 .. $#migrations) {
    my $n = $i + 1;
    like $migrations[$i], qr{/000*$n\_\w+\.sql$}, "step $n has number $n";
    like slurp($migrations[$i]), qr/^PRAGMA user_version = $n;/m,
        'and counts itself';
    unlike slurp($migrations[$i]), qr/^(BEGIN|COMMIT)/mi,
        'without transactions of its own';
}
like $makefile, qr/\Q$_\E\b/, "$_ is compiled in" for @migrations, @queries;

my $fresh = "$dir/fresh.db";
for my $m (@migrations) {
    my ($rc, $out) = sqlite($fresh, "BEGIN;\n" . slurp($m) . "COMMIT;\n");
    is $rc, 0, "$m runs in one transaction" or diag $out;
}
my ($rc, $schema) = sqlite($fresh, ".schema\n");
is $rc, 0, 'the schema dumps';
for my $table ($schema =~ /^CREATE TABLE (\w+)/mg) {
    my ($sql) = $schema =~ /^CREATE TABLE $table \((.*?)^\)([^;]*);/ms;
    like $2, qr/STRICT/, "$table is STRICT";
}

# The program's own database has the same schema.
my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
SKIP: {
    skip "$penstock is not built", 1 unless -x $penstock;
    my $out = qx('$penstock' key add test --db '$dir/made.db' 2>&1);
    skip "penstock has no key command", 1 if $out =~ /no command/;
    is((sqlite("$dir/made.db", ".schema\n"))[1], $schema,
        'penstock makes the same schema');
    # One of each earlier version, with a key, becomes the same.
    for my $n (1 .. $#migrations) {
        my $old = "$dir/old$n.db";
        sqlite($old, join '', map { slurp($_) } @migrations[ 0 .. $n - 1 ]);
        sqlite($old, "INSERT INTO api_key (name, prefix, hash, created_ms)
            VALUES ('old', 'pk-old', zeroblob(32), 1);");
        qx('$penstock' key add new --db '$old' 2>&1);
        is((sqlite($old, ".schema\n"))[1], $schema,
            "a database of version $n gets the same schema");
        like qx('$penstock' key list --db '$old'), qr/^old .*\nnew /m,
            'and keeps its keys';
    }
}

for my $file (@queries) {
    my ($name) = $file =~ m{/(\w+)\.sql$};
    my $text = slurp($file);
    my @head = $text =~ /^-- (.*)/mg;
    (my $body = $text) =~ s/^--.*\n//mg;
    my ($binds) = join(' ', map { /^binds: (.*)/ ? $1 : () } @head);
    my ($plan) = map { /^plan: (.*)/ ? $1 : () } @head;

    like $head[0], qr/^$name: \S/, "$name: the header says what it is for";
    ok $binds && $plan, "$name: binds and plan are given" or next;
    next if $plan eq 'script';

    my %want = map { $_ => 1 } $binds =~ /(?:^|, )(\d+) /g;
    my %got  = map { $_ => 1 } $body =~ /\?(\d+)/g;
    is join(',', sort keys %got), join(',', sort keys %want),
        "$name: its binds are those of the header";
    unlike $body, qr/\?(?!\d)/, "$name: and numbered";

    my ($st, $out) = sqlite($fresh, "EXPLAIN QUERY PLAN\n$body");
    is $st, 0, "$name: prepares" or diag $out;
    if ($plan =~ /^no SCAN ?(\w*)/) {
        my $table = $1 || '(?:request|api_key|meta|response|r|k)';
        unlike $out, qr/SCAN $table\b(?! USING (?:COVERING )?INDEX \S*open)/,
            "$name: scans no table" or diag $out;
    }
}

# C holds no SQL.
for my $c (glob '{src,fcgi}/*/*.c fcgi/*.c') {
    my $text = slurp($c);
    ok $text !~ /"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|PRAGMA)\s/,
        "$c holds no SQL";
}
done_testing;
