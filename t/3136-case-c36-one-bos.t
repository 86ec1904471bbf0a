# Case C36: exactly one beginning-of-text token, whoever writes it.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Render;

my $build = $ENV{BUILD} // 'build';
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
my $body = '{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}'
    . '<|im_end|>{% endfor %}';
my @bos = ('--control', '<s>', '--bos', '<s>');
for (
    [ 'A', "{{ bos_token }}$body", '--add-bos' ],
    [ 'B', "{{ bos_token }}$body" ],
    [ 'C', $body, '--add-bos' ],
    [ 'D', "<s>$body", '--add-bos' ],
) {
    my ($name, $text, @args) = @$_;
    my $template = scratch($text);
    my $file = model($name, @bos, @args, '--template', $template);
    for my $say ('hi', '<s>hi', '') {
        my $ids = render({ messages => [ user($say) ] }, '-m', $file)->{ids};
        my ($bos) = qx{$build/penstock tokenize -m $file --markup --json '<s>'}
            =~ /(\d+)\],"pieces"/;
        is $ids->[0], $bos, "C36: model $name, '$say': BOS is first";
        is count($ids, $bos), 1, 'and only there';
    }
}
done_testing;
