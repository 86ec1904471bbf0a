# Case C42: a browser's preflight carries no key and needs none; what the page
# may read has the headers that let it: streams in their first bytes, errors
# too. Through nginx and straight to the daemon. Everything but OPTIONS and
# health needs the key.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my ($page, $other) = ('https://chat.example.org', 'https://evil.example.org');
my $d = Pen::Daemon->start(args => { thinking => 'off',
    'cors-origin' => "http://localhost:3000, $page" });
my $key = $d->add_key('browser');
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

# One request over either way; headers as pairs.
sub straight {
    my ($method, $uri, $body, %more) = @_;
    my %p = map { ('HTTP_' . uc(tr/-/_/r) => $more{$_}) } keys %more;
    my $r = Pen::Fcgi->request($d->{socket}, method => $method, uri => $uri,
        body => $body, params => \%p, timeout => 60);
    $r->{json} = eval { JSON::PP->new->utf8->decode($r->{body}) };
    return $r;
}

sub through {
    my ($method, $uri, $body, %more) = @_;
    return $h->ask($uri, $body, headers => [ map { "$_: $more{$_}" } keys %more ],
        curl => $method eq 'HEAD' ? ['-I'] : [ '-X', $method ]);
}

my %ask = (Origin => $page, 'Access-Control-Request-Method' => 'POST',
    'Access-Control-Request-Headers' => 'authorization,content-type');
my $stream = Pen::Http::json(Pen::Http::chat(8));
my $bearer = "Bearer $key";
for my $way ([ straight => \&straight ], [ nginx => \&through ]) {
    my ($name, $do) = @$way;
    my $cors = sub {
        my ($r, $what) = @_;
        my $head = $r->{headers};
        is $head->{'access-control-allow-origin'}, $page, "$name: $what";
        like $head->{'access-control-expose-headers'},
            qr/X-Request-Id.*Retry-After.*X-Engine-Stop/, 'exposed headers';
        like $head->{vary}, qr/^Origin$/i, 'Vary';
        like $head->{'x-request-id'}, qr/^[a-z]+-\w{24}$/, 'X-Request-Id';
    };
    # the preflight
    for my $uri ($chat, '/v1/completions', '/v1/models', '/v1/models/demo',
        '/health') {
        my $r = $do->('OPTIONS', $uri, undef, %ask);
        is $r->{status}, 204, "$name: OPTIONS $uri";
        is $r->{body}, '', 'no body';
        $cors->($r, 'allow-origin');
        my $head = $r->{headers};
        my $method = $uri =~ /completions/ ? 'POST' : 'GET';
        like $head->{'access-control-allow-methods'}, qr/\b$method\b/,
            'allow-methods';
        like $head->{'access-control-allow-headers'},
            qr/^authorization, ?content-type$/, 'allow-headers';
        like $head->{allow}, qr/\b$method\b.*\bOPTIONS\b/, 'Allow';
    }
    my $r = $do->('OPTIONS', $chat, undef, %ask,
        'Access-Control-Request-Headers' => 'authorization,x-stainless-lang');
    is $r->{headers}{'access-control-allow-headers'},
        'authorization,x-stainless-lang', 'names that the page asks for';
    $r = $do->('OPTIONS', $chat, undef, %ask,
        'Access-Control-Request-Headers' => 'x-a;drop, "b"');
    is $r->{headers}{'access-control-allow-headers'},
        'authorization, x-api-key, anthropic-version, content-type',
        'what is no list of names is not echoed';
    # the request
    $r = $do->('POST', $chat, $stream, Origin => $page,
        Authorization => $bearer);
    is $r->{status}, 200, "$name: a stream";
    like $r->{headers}{'content-type'}, qr{^text/event-stream}, 'of events';
    like $r->{body}, qr/data: \[DONE\]\n\n\z/, 'to its end';
    $cors->($r, 'the stream has it in its first headers');
    $r = $do->('POST', $chat,
        Pen::Http::json(Pen::Http::chat(2, stream => JSON::PP::false)),
        Origin => $page, Authorization => $bearer);
    is $r->{json}{object}, 'chat.completion', "$name: not streamed";
    $cors->($r, 'JSON has it');
    # errors
    for my $case ([ 401, POST => $chat, $stream ],
        [ 401, GET => '/v1/models' ], [ 401, GET => '/v1/models/demo' ],
        [ 401, POST => '/v1/completions', '{}' ],
        [ 404, GET => '/v1/nothing' ], [ 405, DELETE => $chat ],
        [ 404, OPTIONS => '/v1/nothing' ],
        [ 400, POST => $chat, '{', Authorization => $bearer ]) {
        my ($status, $method, $uri, $body, @more) = @$case;
        $r = $do->($method, $uri, $body, Origin => $page, @more);
        is $r->{status}, $status, "$name: $method $uri, $status";
        is join(' ', sort keys %{ $r->{json}{error} }),
            'code message param type', 'JSON';
        $cors->($r, 'errors have it');
    }
    is $do->('GET', '/health', undef, Origin => $page)->{status}, 200,
        "$name: health needs no key";
    # another page, and none
    for my $origin ($other, "$page.evil.org", "$page:8443", 'null', undef) {
        my @o = defined $origin ? (Origin => $origin) : ();
        for my $c ([ 204, OPTIONS => $chat, undef, %ask ],
            [ 401, POST => $chat, $stream ], [ 200, GET => '/health' ],
            [ 200, POST => $chat, $stream, Authorization => $bearer ]) {
            my ($status, $method, $uri, $body, %more) = @$c;
            delete $more{Origin};
            $r = $do->($method, $uri, $body, %more, @o);
            is $r->{status}, $status, "$name: $method from "
                . ($origin // 'no page');
            is join(' ', grep { /^access-control/ } keys %{ $r->{headers} }),
                '', 'nothing is allowed';
            is $r->{headers}{vary}, 'Origin', 'but Vary';
        }
    }
    # HEAD
    for my $c ([ 200, '/v1/models' ], [ 200, '/v1/models/demo' ],
        [ 200, '/health' ], [ 405, $chat ], [ 405, '/v1/completions' ],
        [ 404, '/v1/nothing' ]) {
        $r = $do->('HEAD', $c->[1], undef, Authorization => $bearer);
        is "$r->{status} $r->{body}", "$c->[0] ", "$name: HEAD $c->[1]";
        is $r->{headers}{allow}, $c->[0] == 405 ? 'POST, OPTIONS' : undef,
            'Allow with 405 only';
        like $r->{headers}{'content-length'}, qr/^[1-9]/, 'the length of GET';
    }
}
is $d->stop, 0, 'ends well';

# Every page; and none, when nothing is set.
$d = Pen::Daemon->start(args => { 'cors-origin' => '*' });
for my $case ([ 204, OPTIONS => $chat, undef, %ask ], [ 200, GET => '/v1/models' ]) {
    my ($status, @c) = @$case;
    my $r = straight(@c);
    is "$r->{status} $r->{headers}{'access-control-allow-origin'}",
        "$status *", '*: everybody';
    is $r->{headers}{vary}, undef, 'one head for all';
}
is $d->stop, 0, 'ends well';
$d = Pen::Daemon->start;
for my $case ([ 204, OPTIONS => $chat, undef, %ask ], [ 200, GET => '/v1/models' ]) {
    my ($status, @c) = @$case;
    my $r = straight(@c);
    is $r->{status}, $status, "off: $c[0]";
    is join(' ', grep { /^(?:access-control|vary)/ } keys %{ $r->{headers} }),
        '', 'nothing is allowed';
}
is $d->stop, 0, 'ends well';

my $bin = Pen::Daemon::build() . '/penstockd';
for my $bad ('chat.example.org', "$page/", "$page,*") {
    my $said = `$bin --model x --cors-origin '$bad' 2>&1`;
    is $? >> 8, 2, "'$bad' is refused at the start";
    my ($entry) = reverse split /,/, $bad;
    like $said, qr/--cors-origin: .*'\Q$entry\E'/, 'by its name';
}
done_testing;
