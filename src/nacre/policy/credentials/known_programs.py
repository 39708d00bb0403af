"""Programs by what they do with the files they are given."""

__all__ = ("SILENT", "TEXT_TOOLS", "named")


def named(names: str) -> frozenset[str]:
    """The names in a text: a long list is easier to read as one."""
    return frozenset(names.split())


# They say nothing of what is in a file.
SILENT = (
    # They list, or say something about it.
    named("""
        ls ll la dir vdir exa eza lsd tree stat test [ [[ file du df wc find fd fdfind locate
        getfacl lsattr readlink realpath basename dirname namei pathchk cksum sum md5 md5sum
        sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum b3sum
    """)
    # They change, make or remove it.
    | named("""
        chmod chown chgrp chattr setfacl touch truncate mkdir rmdir rm unlink shred trash
        restorecon mktemp tee
    """)
    # Words of the shell; what it loads it does not print.
    | named("""
        cd pushd popd pwd source . : true false exit return shift break continue let type which
        whereis hash help man info apropos whatis alias unalias bind complete compgen compopt
        export declare typeset local readonly unset read mapfile readarray set shopt trap wait
        echo printf print logger getopts ulimit umask kill
    """)
    # They log in with it.
    | named("ssh ssh-add ssh-copy-id ssh-keygen ssh-keyscan sftp mosh autossh sshfs")
    # Editors that only a person can use.
    | named("""
        code code-insiders cursor subl open xdg-open nano pico micro hx gedit kate idea atom mate
        vscodium zed
    """)
    # What they run is looked at by itself.
    | named("""
        bash sh dash zsh ksh ash fish busybox toybox eval exec command builtin env sudo doas su
        time timeout nice nohup ionice chrt taskset setsid stdbuf strace ltrace watch xargs
        parallel flock unshare nsenter chroot script coproc systemd-run caffeinate rlwrap firejail
        bwrap proot
    """)
    # They give it to a program as its environment or configuration.
    | named("""
        direnv dotenv dotenv-cli dotenvx env-cmd foreman honcho overmind godotenv cross-env shdotenv make
        cmake ninja just task npm npx pnpm yarn cargo go mvn gradle pip pip3 pipx uv uvx poetry
        pytest tox nox virtualenv conda mamba rake bundle composer mix dotnet vercel netlify fly
        flyctl heroku wrangler railway supabase terraform tofu pulumi ansible ansible-playbook
        helm kustomize skaffold docker-compose podman-compose nerdctl buildah skopeo vagrant
        packer minikube kind k3d az eksctl doctl op vault sops age gpg gpg2 systemctl service
        crontab useradd usermod passwd apt apt-get yum dnf brew snap pacman apk
    """)
)

# They take every word for a file, or for something that no file is called.
TEXT_TOOLS = named("""
    cat tac nl head tail less more most bat batcat rev paste od xxd hexdump hd hexyl strings
    base32 base64 basenc uuencode sort uniq cut tr fold fmt pr column colrm expand unexpand
    join comm look shuf split csplit iconv dos2unix ptx tsort vis zcat bzcat xzcat zstdcat
    zless zmore gzip gunzip bzip2 xz zstd lz4 lzma brotli compress openssl ed ccze lolcat
    pygmentize highlight glow mdcat xmllint envsubst m4 cpp mlr csvlook xsv qsv
""")
