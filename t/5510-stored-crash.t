# A daemon that is killed in the middle of a stored stream: its row is there
# afterwards, as failed; a locked database holds up ids, not answers.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(sleep time);
use Pen::Daemon;
use Pen::Shell;
use Pen::Stored;

plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $d = Pen::Daemon->scripted(args => { 'responses-keep' => 1 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });

sub stream {
    my ($n) = @_;
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => '/v1/responses', body => JSON::PP::encode_json(
        { input => 'Hi', stream => JSON::PP::true, max_output_tokens => $n }));
    return $f;
}

my $done = create($d, input => 'Hi', max_output_tokens => 3);
is $done->{status}, 'incomplete', 'one that ends at its limit';
my @f = map { stream(3000) } 1 .. 3;
ok wait_for(sub { sql($d, "SELECT count(*) FROM response
    WHERE status = 'in_progress'") eq '3' }), 'three run, and have rows';
my @ids = split /\n/, sql($d, "SELECT id FROM response
    WHERE status = 'in_progress'");
is at($d, GET => $_)->{status}, 'in_progress', 'GET says so' for @ids;
$d->kill('KILL');
is $d->wait_end(10), 137, 'the daemon is killed';
$d->run->wait_ready(60);
like $d->log_since, qr/ warn responses rows_of_a_dead_daemon=3/, 'the next says';
for (@ids) {
    my $r = at($d, GET => $_);
    is "$r->{status} $r->{error}{code}", 'failed server_error',
        'what ran has failed, and is not lost';
    is $r->{object}, 'response', 'a whole object';
}
is at($d, GET => $done->{id})->{status}, 'incomplete', 'what was over stays';
is create($d, input => 'On', previous_response_id => $done->{id},
    max_output_tokens => 2)->{http}, 200, 'and can be gone on from';

# Cancelled from another connection.
my $f = stream(3000);
my $id;
ok wait_for(sub { $id = sql($d, "SELECT id FROM response
    WHERE status = 'in_progress'") }), 'one more runs';
my $r = at($d, POST => "$id/cancel");
is "$r->{http} $r->{status}", '200 cancelled', 'cancel answers its end';
my $s = $f->response(60);
like $s->{body}, qr/event: response\.incomplete\n[^\n]*"status":"cancelled"/,
    'the stream ends with it';
is $d->wait_rows("request_id = '$id' AND state = 'done'")
    && ($d->rows("request_id = '$id'"))[0]{finish_reason}, 'cancelled',
    'and its row in the ledger';

# The client leaves: what was said is kept.
$f = stream(3000);
ok wait_for(sub { $id = sql($d, "SELECT id FROM response
    WHERE status = 'in_progress'") }), 'one more runs';
like $f->response(60, qr/" two"/)->{out}, qr/" two"/, 'and says something';
$f->close;
ok wait_for(sub { at($d, GET => $id)->{status} eq 'cancelled' }),
    'its client leaves';
$r = at($d, GET => $id);
like $r->{output}[0]{content}[0]{text}, qr/^one two/, 'its text is there';

# The daemon goes down before it ends.
my $going = Pen::Daemon->scripted(args => { 'responses-keep' => 1,
    'drain-timeout' => 1 }, env => { PENSTOCK_GAP_US => 20_000,
    PENSTOCK_SCRIPT_LOOP => 1 });
$f = Pen::Fcgi->connect($going->{socket});
$f->send_request(uri => '/v1/responses',
    body => '{"input":"Hi","stream":true,"max_output_tokens":3000}');
$f->response(60, qr/" two"/);
$going->kill('TERM');
like $f->response(60)->{out}, qr/event: response\.failed\n/,
    'a daemon that goes down';
$f->close;
is $going->wait_end, 0, 'ends well';
is sql($going, 'SELECT status FROM response'), 'failed', 'cuts it off';
like sql($going, 'SELECT CAST(answer AS TEXT) FROM response'),
    qr/"status":"failed".*"text":"one two/, 'with what was said';

# The database is locked: the answer comes within seconds, its row later.
my $locker = Pen::Shell->start('sqlite3', $d->{db});
is $locker->ask("BEGIN IMMEDIATE;\n.print locked"), 'locked', 'locked';
my $start = time;
my $late = create($d, input => 'Hi', max_output_tokens => 2);
is $late->{http}, 200, 'an answer comes';
cmp_ok time - $start, '>', 4.5, 'after the wait for its row';
is at($d, GET => $done->{id})->{http}, 200, 'reading goes on';
is create($d, input => 'On', previous_response_id => $late->{id})->{http},
    503, 'what goes on from it must wait';
$locker->say('COMMIT;');
is $locker->finish, 0, 'unlocked';
is at($d, GET => $late->{id})->{status}, 'incomplete', 'then it is there';
is create($d, input => 'On', previous_response_id => $late->{id},
    max_output_tokens => 2)->{http}, 200, 'to go on from';
is $d->stop, 0, 'ends well';
is sql($d, "SELECT count(*) FROM response WHERE status = 'in_progress'"), 0,
    'nothing is left open';
done_testing;
