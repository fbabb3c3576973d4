# SPDX-License-Identifier: Apache-2.0
"""How packages and repositories are tried with a real pacman: its repository has greeting 2.0,
words, phrase (needs words), rude (conflicts with greeting), polite (replaces manners).
"""

from __future__ import annotations

from laws import on_machine

PACMAN = "pacman --noconfirm "
OLD = PACMAN + "-U /usr/local/older/greeting-1.0*; "
MANNERS = PACMAN + "-U /usr/local/older/manners-1.0*; "
NEW = PACMAN + "-S greeting; "
CACHED = "cp /usr/local/older/greeting-1.0* /var/cache/pacman/pkg; "
HELD = OLD + "sed -i 's/#IgnorePkg.*/IgnorePkg = greeting/' /etc/pacman.conf; "
PHRASE = PACMAN + "-S phrase; "
FILE = "/etc/pacman.d/more.conf"
THERE = (
    "mkdir /srv/more; tar czf /srv/more/more.db -T /dev/null; "
    f"printf '[more]\\nSigLevel = Never\\nServer = file:///srv/more\\n' > {FILE};"
    f" echo 'Include = {FILE}' >> /etc/pacman.conf; "
)
EMPTY = "mkdir /srv/more; tar czf /srv/more/more.db -T /dev/null; "
KEY = (
    "export GNUPGHOME=/root/keys; mkdir -m 700 $GNUPGHOME; gpg --batch --passphrase ''"
    " --quick-generate-key me@example.org; gpg --armor --export >/srv/key.asc; "
)


on = on_machine("pkg.", layer="pacman", again="reinstall", name="greeting")


SCENARIOS = [
    on("pkg.installed", version=">=2"),
    on("pkg.installed", NEW, plans=False, version="2.0"),
    on("pkg.installed", NEW + CACHED, version="<2"),
    on("pkg.installed", version="9.9-1", fails="'9.9-1'"),
    on("pkg.installed", name="nosuchpackage", refresh=False, fails="nosuchpackage"),
    on("pkg.installed", fromrepo="testing", pkgs=["phrase", {"greeting": "2.0-1"}]),
    on("pkg.installed", sources=[{"phrase": "/usr/local/pacman/phrase-2.0-1-any.pkg.tar.zst"}]),
    on("pkg.installed", sources=[{"greeting": "/etc/hosts"}], fails="is not a package"),
    on("pkg.installed", OLD, name="rude", fails="rude and greeting are in conflict"),
    on("pkg.installed", name="lonely", fails="unable to satisfy dependency 'nosuchthing'"),
    on("pkg.installed", name="vocabulary", resolve_capabilities=True),
    on("pkg.installed", NEW, reinstall=True),
    on("pkg.installed", NEW + "rm -r /usr/share/greeting; ", pkg_verify=True),
    on(
        "pkg.installed",
        NEW + "echo x >>/etc/greeting.conf; ",
        plans=False,
        pkg_verify=True,
        ignore_types=["config"],
    ),
    on("pkg.installed", OLD, hold=True),
    on("pkg.installed", HELD, version=">=2", fails="Set update_holds to True"),
    on("pkg.installed", HELD, version=">=2", update_holds=True),
    on("pkg.latest", OLD),
    on("pkg.latest", HELD, fails="held back by IgnorePkg"),
    on("pkg.removed", NEW),
    on("pkg.removed", PHRASE, name="words", fails="breaks dependency 'words>=1.0' required by"),
    on("pkg.purged", PHRASE, name="phrase"),
    on("pkg.uptodate", OLD + MANNERS),
    on("pkg.uptodate", HELD, plans=False),
    on("pkg.autoremoved", PHRASE + PACMAN + "-D --asdeps phrase; "),
    on("pkg.autoremoved", plans=False),
    on("pkg.held", OLD),
    on("pkg.unheld", HELD),
    on("pkg.downloaded", pkgs=["phrase"]),
    on("pkg.group_installed", name="talking"),
    on("pkgrepo.managed", EMPTY, name="more", server="file:///srv/more", siglevel="Never"),
    on("pkgrepo.managed", THERE + "pacman -Sy; ", plans=False, name="more", gpgcheck=False),
    on("pkgrepo.managed", THERE, name="more", siglevel="Optional TrustAll"),
    on("pkgrepo.managed", THERE, name="more", disabled=True, baseurl="file:///srv/more"),
    on("pkgrepo.managed", name="local", server="file:///x", fails="this is no name for"),
    on("pkgrepo.managed", name="more", fails="it needs `server`"),
    on("pkgrepo.managed", name="more", server="file:///x", siglevel="No", fails="pacman knows"),
    on(
        "pkgrepo.managed",
        KEY + EMPTY,
        name="more",
        server=["file:///srv/more", "file:///srv/other"],
        key_url="/srv/key.asc",
    ),
    on("pkgrepo.absent", THERE, name="more"),
    on("pkgrepo.absent", name="testing"),
    on("pkgrepo.absent", plans=False, name="nosuch"),
]
