# SPDX-License-Identifier: Apache-2.0
package Tags;
use strict;
use warnings;

# The tags in the order in which they come first, each with how often it comes.
sub counted {
    my @tags = @_;
    my @found;
    for my $tag (@tags) {
        my ($known) = grep { $_->[0] eq $tag } @found;
        if ($known) {
            $known->[1]++;
        } else {
            push @found, [$tag, 1];
        }
    }
    return @found;
}

1;
