import os
import shlex
import subprocess


def ping(host, args):
    os.system("ping -c 1 " + host)  # expect
    os.popen(f"ping {host}")  # expect
    subprocess.run(f"ping {host}", shell=True)  # expect
    subprocess.check_output("ping %s" % host, shell=True, text=True)  # expect
    cmd = "ping " + host
    subprocess.Popen(cmd, shell=True)  # expect
    subprocess.call(" ".join(args), shell=True)  # expect


def safe(host, args):
    subprocess.run(["ping", host])  # ok: no shell
    subprocess.run("uptime", shell=True)  # ok: a constant
    os.system("clear")  # ok: a constant
    fixed = "uptime | cut -c1-10"
    subprocess.run(fixed, shell=True)  # ok: a constant by another name
    subprocess.run(COMMAND, shell=True)  # ok: a constant
    subprocess.run(f"ping {shlex.quote(host)}", shell=True)  # ok: quoted
