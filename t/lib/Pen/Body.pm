package Pen::Body;
# What the body parser answers, without a server: check($json [, $route])
# gives the HTTP status and the decoded error ({} when it was accepted).
use strict;
use warnings;
use Exporter 'import';
use IPC::Open2;
use JSON::PP;
use Test::More;

our @EXPORT = qw(check named tool chat);
my $tool = ($ENV{BUILD} // 'build') . '/t/unit/api_body_error';

sub tool { return -x $tool }

# A chat body with these further members.
sub chat {
    my ($more) = @_;
    return '{"messages":[{"role":"user","content":"hi"}]'
        . ($more ? ",$more" : '') . '}';
}

sub check {
    my ($json, $route) = @_;
    my $pid = open2(my $out, my $in, $tool, $route // 'chat');
    binmode $_ for $out, $in;
    local $SIG{PIPE} = 'IGNORE';
    print $in $json;
    close $in;
    local $/;
    my $said = <$out>;
    waitpid $pid, 0;
    return (0, {}) if $?;
    my ($status, $body) = $said =~ /^(\d+)\n(.*)$/s;
    return ($status, {}) if $status == 200;
    cmp_ok(length $body, '<', 1024, 'the error is short');
    return ($status, decode_json($body)->{error});
}

# 400 of OpenAI's shape, naming this field (undef: the body itself).
sub named {
    my ($json, $param, $name, $route) = @_;
    my ($status, $e) = check($json, $route);
    is($status, 400, "$name: 400");
    is($e->{type}, 'invalid_request_error', "$name: type");
    is($e->{param}, $param, "$name: param");
    is(join(' ', sort keys %$e), 'code message param type', "$name: keys");
    return;
}

1;
