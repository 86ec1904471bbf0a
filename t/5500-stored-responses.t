# Responses that are stored: by whom they are seen, what survives a restart,
# when they go, and that nothing is left of them then. (The rows themselves:
# t/unit/acct_responses; each route: t/unit/api_stored.)
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Shell;
use Pen::Stored;

plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $canary = 'zebrafish-5517-marzipan';
my $reply = 'heliotrope-9921-quokka';
my %env = (env => { PENSTOCK_SCRIPT => "So $reply it is" });
my $unknown = 'resp_' . '0' x 24;

# By default nothing is stored, whatever is asked for.
my $d = Pen::Daemon->scripted(%env);
my $r = create($d, input => $canary, store => JSON::PP::true);
is $r->{http}, 200, 'store: true is served where nothing is stored';
ok !$r->{store}, 'and says that it is not stored';
is at($d, GET => $r->{id})->{http}, 404, 'there is none to get';
$r = create($d, input => 'x', previous_response_id => $unknown);
is $r->{http}, 400, 'nothing to go on from';
like $r->{error}{message}, qr/responses-keep/, 'the setting is named';
is sql($d, 'SELECT count(*) FROM response'), 0, 'the table is empty';
is $d->stop, 0, 'ends';
is remains($d, $canary), '', 'no prompt in any file';
is remains($d, $reply), '', 'no answer in any file';

# With the setting: two keys, and neither sees the other's.
$d = Pen::Daemon->scripted(%env,
    args => { 'responses-keep' => 30, 'log-level' => 'debug' });
my ($ann, $bob) = map { $d->add_key($_) } qw(ann bob);
ok wait_for(sub { Pen::Fcgi->request($d->{socket}, uri => '/v1/models',
    params => bearer($bob))->{status} == 200 }), 'both keys are known';
my $first = create($d, input => $canary, key => $ann);
ok $first->{http} == 200 && $first->{store}, 'one is stored';
my $second = create($d, input => 'And then?', key => $ann,
    previous_response_id => $first->{id});
is $second->{http}, 200, 'one goes on from it';
cmp_ok $second->{usage}{input_tokens}, '>', $first->{usage}{input_tokens},
    'with its text';
my $other = create($d, input => 'mine', key => $bob);
my $not = create($d, input => $canary, key => $ann, store => JSON::PP::false);
is at($d, GET => $not->{id}, $ann)->{http}, 404, 'store: false is kept to';
my @same = map { at($d, @$_)->{error}{message} } [ GET => $unknown, $bob ],
    [ GET => $first->{id}, $bob ], [ GET => $not->{id}, $ann ],
    [ GET => $other->{id}, $ann ], [ DELETE => $first->{id}, $bob ],
    [ POST => "$first->{id}/cancel", $bob ],
    [ GET => "$first->{id}/input_items", $bob ];
is_deeply [ map { $_ eq $same[0] } @same ], [ (1) x 7 ],
    "another's is as unknown as one that never was";
is create($d, input => 'x', key => $bob,
    previous_response_id => $first->{id})->{http}, 400, 'nor gone on from';
is at($d, GET => $first->{id}, $ann)->{output}[-1]{content}[0]{text},
    "So $reply it is", 'its own key sees it';
is sql($d, 'SELECT key, responses, running, bytes > 0 FROM responses_by_key'),
    "ann|2|0|1\nbob|1|0|1", 'the admin sees how much, and no text';

# A restart keeps them; without the setting they can still be read.
is $d->stop, 0, 'a restart';
$d->run->wait_ready(60);
is at($d, GET => $second->{id}, $ann)->{status}, 'completed', 'keeps them';
my $third = create($d, input => 'Once more', key => $ann,
    previous_response_id => $second->{id});
is $third->{http}, 200, 'and what they go on from';
$d->stop;
my $keep = $d->{argv};
$d->{argv} = [ map { $_ eq '30' ? '0' : $_ } @$keep ];
$d->run->wait_ready(60);
is at($d, GET => $first->{id}, $ann)->{http}, 200, 'with 0 they are read';
is create($d, input => 'x', key => $ann,
    previous_response_id => $first->{id})->{http}, 400, 'not gone on from';
ok !create($d, input => 'x', key => $ann)->{store}, 'and no more are stored';
is at($d, DELETE => $third->{id}, $ann)->{deleted}, JSON::PP::true,
    'a client deletes its own all the same';
$d->stop;
$d->{argv} = $keep;
$d->run->wait_ready(60);

# What has expired is gone at once for clients, and soon from the file.
sql($d, "UPDATE response SET expires_ms = 1000 WHERE id = '$second->{id}'");
is at($d, GET => $second->{id}, $ann)->{http}, 404, 'one has expired';
$d->stop;
$d->run->wait_ready(60); # it looks when it starts, and then once a minute
ok wait_for(sub { sql($d, "SELECT count(*) FROM response
    WHERE id = '$second->{id}'") eq '0' }), 'its row goes';

# Deleting leaves nothing of the text.
isnt remains($d, $canary), '', 'the text is there';
is at($d, DELETE => $first->{id}, $ann)->{http}, 200, 'until it is deleted';
ok wait_for(sub { !-s "$d->{db}-wal" }, 30), 'and the log is cut';
is remains($d, $canary), '', 'then no file holds it';
is at($d, GET => $other->{id}, $bob)->{http}, 200, "another's stays";

# A key that is removed for good takes its own along; nobody inherits them.
sql($d, "PRAGMA secure_delete = ON; DELETE FROM request; "
    . "DELETE FROM api_key WHERE name = 'bob'");
is sql($d, 'SELECT count(*) FROM response'), 0, 'a key that is deleted';
my @row = $d->wait_rows("endpoint = 'responses'", 1, 1);
is $d->stop, 0, 'ends well';
for my $text ($canary, $reply) {
    is remains($d, $text), '', 'nothing is left';
    unlike $d->log, qr/\Q$text\E/, 'and the log never had it';
}
done_testing;
