# penstock key and penstock ledger, from outside.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use JSON::PP;
use Digest::SHA qw(sha256_hex);
use lib 't/lib';
use Pen::Shell;

my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
plan skip_all => "$penstock is not built" unless -x $penstock;
plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $dir = tempdir(CLEANUP => 1);
my $db  = "$dir/new/p.db";
delete $ENV{PENSTOCK_DB};

# (status, standard output, standard error)
sub run {
    my @command = @_;
    my $pid = fork // die $!;
    if (!$pid) {
        open STDOUT, '>', "$dir/out" or die $!;
        open STDERR, '>', "$dir/err" or die $!;
        exec $penstock, @command or die $!;
    }
    waitpid $pid, 0;
    my $status = $? >> 8;
    return ($status, map { slurp("$dir/$_") } qw(out err));
}

sub slurp {
    open my $f, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$f> // '';
}

sub sql {
    my ($text) = @_;
    open my $f, '|-', 'sqlite3', '-bail', $db or die $!;
    print $f $text;
    return close $f;
}

# --- keys
my ($rc, $out, $err) = run(qw(key list --db), $db);
is $rc, 1, 'no database, no list';
like $err, qr/^penstock key: \Q$db\E: /, 'the message names the file';
($rc, $out) = run(qw(key add alice --db), $db);
is $rc, 0, 'a key is added, the folder made';
like $out, qr/^pk-[A-Za-z0-9_-]{43}\n\z/, 'only the key is printed';
chomp(my $alice = $out);
is sprintf('%04o', (stat $db)[2] & 07777), '0600', 'the file is private';
is sprintf('%04o', (stat "$dir/new")[2] & 07777), '0700', 'so is the folder';
is qx(sqlite3 '$db' 'SELECT lower(hex(hash)) FROM api_key'),
    sha256_hex($alice) . "\n", 'the file has its SHA-256';
unlike slurp($db), qr/\Q$alice\E/, 'and not the key';

is qx(sqlite3 '$db' 'PRAGMA journal_mode; PRAGMA auto_vacuum'), "wal\n2\n",
    'it keeps a write-ahead log and can give pages back';

$ENV{PENSTOCK_DB} = $db;
($rc, $out) = run(qw(key add bob --json));
is $rc, 0, '$PENSTOCK_DB is the default';
my $bob = decode_json($out);
like $bob->{key}, qr/^pk-/, '--json has the key';
is $bob->{name}, 'bob', 'and the name';
($rc, $out, $err) = run(qw(key add alice));
is $rc, 1, 'a name is given once';
like $err, qr/^penstock key: name: /, 'the message says what is wrong';
($rc, $out) = run(qw(key add), 'a b');
is $rc, 1, 'a name has no space';
($rc) = run(qw(key revoke alice));
is $rc, 0, 'alice is revoked';
($rc, $out, $err) = run(qw(key revoke alice));
is $rc, 1, 'once';
($rc, $out) = run(qw(key list));
like $out, qr/^alice +pk-\S{8} +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d{4}/m,
    'the list has the revoked one';
like $out, qr/^bob +pk-\S{8} +[\d: -]+ +- +default +default +default +default$/m,
    'and the live one';
unlike $out, qr/\Q$alice\E|\Q$bob->{key}\E/, 'no key is shown again';
($rc, $out) = run(qw(key list --json));
my $keys = decode_json($out)->{keys};
is scalar @$keys, 2, 'two in JSON';
ok $keys->[0]{revoked_ms} && !defined $keys->[1]{revoked_ms}, 'as they are';

# --- limits
($rc, $out) = run(qw(key limit bob --requests 60 --tokens none --tokens-day
    10000000000));
is "$rc $out", "0 limited bob\n", 'bob is limited';
($rc, $out) = run(qw(key list));
like $out, qr/^bob .* - +60 +none +10000000000 +default$/m, 'as the list says';
($rc, $out) = run(qw(key limit --json --requests default --concurrent 2),
    substr $bob->{key}, 0, 11);
is decode_json($out)->{limited}, substr($bob->{key}, 0, 11), 'by prefix too';
($rc, $out) = run(qw(key list --json));
is_deeply { map { $_ => decode_json($out)->{keys}[1]{"limit_$_"} }
        qw(requests tokens tokens_day concurrent) },
    { requests => undef, tokens => 0, tokens_day => 10_000_000_000,
        concurrent => 2 }, 'JSON: null is the default, 0 is none';
is qx(sqlite3 '$db' "SELECT key, tokens_per_minute, tokens_per_day,
    requests_at_a_time, requests_today FROM limits_by_key"),
    "bob|0|10000000000|2|0\n", 'and the view';
($rc, $out, $err) = run(qw(key limit alice --requests 1));
is $rc, 1, 'a revoked key has no limits';
for my $bad (['limit', 'bob'], ['limit', '--requests', 1], (map
        { ['limit', 'bob', '--requests', $_] } 0, -1, '1x', '', '10000000001'),
    ['list', '--tokens', 1], ['revoke', 'bob', '--tokens', 1]) {
    ($rc, $out, $err) = run('key', @$bad);
    is $rc, 2, "usage: key @$bad";
}
for my $bad ([], ['frob'], ['add'], ['list', 'x'], ['add', 'a', '--frob']) {
    ($rc, $out, $err) = run('key', @$bad);
    is $rc, 2, "usage: key @$bad";
}
is +(run(qw(key --help)))[0], 0, '--help';

# --- ledger: rows by hand, times around a known day
ok sql(<<'SQL'), 'some rows';
INSERT INTO request (ts_ms, request_id, model, key_id, client_id, client_kind,
    endpoint, stream, state, status, finish_reason, prompt_tokens,
    cached_tokens, completion_tokens, reasoning_tokens, ttft_ms, decode_ms,
    total_ms, thinking, engine_version)
VALUES
(1796040000000, 'chatcmpl-1', 'demo', 2, 'k:0123456789ab', 'curl', 'chat', 1,
    'done', 200, 'stop', 100, 60, 11, 0, 120, 500, 620, 0, '0.1'),
(1796126400000, 'chatcmpl-2', 'demo', 2, 'k:0123456789ab', 'curl', 'chat', 1,
    'done', 200, 'length', 50, 0, 21, 5, 80, 1000, 1080, 1, '0.1'),
(1796126401000, 'chatcmpl-3', NULL, NULL, 'anon', 'other', 'chat', 0,
    'done', 401, 'refused', NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, '0.1'),
(1796126402000, 'chatcmpl-4', 'x' || char(27) || '[2J', NULL, 'anon', 'other',
    'chat', 0, 'failed', 500, 'error', 7, 0, 0, 0, NULL, NULL, 9, 0, '0.1');
SQL
($rc, $out) = run('ledger');
is $rc, 0, 'the table';
my @lines = split /\n/, $out;
is scalar @lines, 5, 'a head and four rows';
like $lines[0], qr/^TIME \(UTC\) +REQUEST .* TOK\/s$/, 'the head';
like $lines[1], qr/^2026-12-01 12:00:02 +chatcmpl-4 /, 'the newest first';
unlike $out, qr/\e/, 'a name cannot steer the terminal';
like $lines[4], qr/ bob +curl +chat +done +200 +stop +100 +60 +11 +120 +620 +20\.00$/,
    'what a row has';
is scalar(grep { length != length $lines[0] } @lines), 0, 'columns align';
($rc, $out) = run(qw(ledger --limit 2 --since 2026-12-01 --json));
my $list = decode_json($out)->{requests};
is join(' ', map { $_->{request_id} } @$list), 'chatcmpl-4 chatcmpl-3',
    '--limit and --since';
ok !defined $list->[1]{model} && $list->[1]{status} == 401
    && !$list->[1]{stream}, 'JSON has nulls, numbers and booleans';
($rc, $out) = run(qw(ledger --since 2026-12-02));
is $out =~ tr/\n//, 1, 'nothing since then';

sub sums {
    my ($by) = @_;
    my ($rc, $out) = run(qw(ledger --json --by), $by);
    is $rc, 0, "--by $by";
    my ($rows) = values %{ decode_json($out) };
    return join ' ', map {
        "$_->{name}=$_->{requests}/$_->{failed}/$_->{refused}/"
            . "$_->{prompt_tokens}/$_->{completion_tokens}"
    } @$rows;
}
is sums('key'), '(none)=2/1/1/7/0 bob=2/0/0/150/32', 'sums by key';
is sums('day'), '2026-12-01=3/1/1/57/21 2026-11-30=1/0/0/100/11', 'by day';
like sums('model'), qr{^demo=2/0/0/150/32 }, 'by model';
is sums('client'), 'anon other=2/1/1/7/0 k:0123456789ab curl=2/0/0/150/32',
    'by client';
for my $bad (['--by', 'x'], ['--since', 'soon'], ['--since', '2026-02-30'],
    ['--limit', '0'], ['--limit', 'x'], ['--frob'], ['extra']) {
    is +(run('ledger', @$bad))[0], 2, "usage: ledger @$bad";
}
done_testing;
