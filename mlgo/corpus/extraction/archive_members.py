"""Archives among the objects, replaced by their members."""

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence

from mlgo.corpus.extraction import archive, linker_params, object_file
from mlgo.corpus.extraction.listing import BuildObject, Listing, absolute
from mlgo.corpus.extraction.outcome import LeftOut, Omission


def expanded(listing: Listing) -> Listing:
    """`listing` with the members of an archive where the archive was; one that cannot be read is an omission."""
    objects: list[BuildObject] = []
    omissions = list(listing.omissions)
    for found in listing.objects:
        if not linker_params.is_archive_name(found.stated):
            objects.append(found)
            continue
        try:
            objects += _members(found)
        except LeftOut as error:
            omissions.append(Omission(found.stated, error.kind, error.reason))
    return Listing(tuple(objects), tuple(omissions))


def _members(found: BuildObject) -> Sequence[BuildObject]:
    with object_file.opened(found.path) as span:
        head = span.head(len(archive.MAGIC))
        if not archive.is_archive(head):
            return [found]  # libtool's `libx.lo`, or a linker script `libx.a`: reading it gives the reason.
        members = list(archive.members(span))
    if archive.is_thin(head):
        folder, stated_folder = os.path.dirname(found.path), os.path.dirname(found.stated)
        return [
            BuildObject(os.path.join(stated_folder, member.name), absolute(folder, member.name), found.directory)
            for member in members
        ]
    times = Counter(member.name for member in members)
    return [
        dataclasses.replace(
            found,
            member=(member.start, member.size),
            # As lld names them, but the offset, which depends on other members, only for members of one name.
            member_label=f"({member.name}{f' at {member.header}' if times[member.name] > 1 else ''})",
        )
        for member in members
    ]
