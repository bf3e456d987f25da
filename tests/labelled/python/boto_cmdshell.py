# Copyright (c) 2006-2009 Mitch Garnaat http://garnaat.org/
#
# Permission is hereby granted, free of charge, to any person obtaining a
# copy of this software and associated documentation files (the
# "Software"), to deal in the Software without restriction, including
# without limitation the rights to use, copy, modify, merge, publish, dis-
# tribute, sublicense, and/or sell copies of the Software, and to permit
# persons to whom the Software is furnished to do so, subject to the fol-
# lowing conditions:
#
# The above copyright notice and this permission notice shall be included
# in all copies or substantial portions of the Software.
#
# THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS
# OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABIL-
# ITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT
# SHALL THE AUTHOR BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
# WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
# OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
# IN THE SOFTWARE.
"""
The cmdshell module uses the paramiko package to create SSH connections
to the servers that are represented by instance objects. The module has
functions for running commands, managing files, and opening interactive
shell sessions over those connections.
"""
from boto.mashups.interactive import interactive_shell
import boto
import os
import time
import shutil
import paramiko
import socket
import subprocess

from boto.compat import StringIO

class LocalClient(object):
    """
    :ivar server: A Server object or FakeServer object.
    :ivar host_key_file: The path to the user's .ssh key files.
    :ivar uname: The username for the SSH connection. Default = 'root'.
    """
    def __init__(self, server, host_key_file=None, uname='root'):
        self.server = server
        self.host_key_file = host_key_file
        self.uname = uname

    def get_file(self, src, dst):
        """
        Copy a file from one directory to another.
        """
        shutil.copyfile(src, dst)

    def put_file(self, src, dst):
        """
        Copy a file from one directory to another.
        """
        shutil.copyfile(src, dst)

    def listdir(self, path):
        """
        List all of the files and subdirectories at the specified path.
        
        :rtype: list
        :return: Return a list containing the names of the entries
                in the directory given by path.
        """
        return os.listdir(path)

    def isdir(self, path):
        """
        Check the specified path to determine if it is a directory.
        
        :rtype: boolean
        :return: Returns True if the path is an existing directory.
        """
        return os.path.isdir(path)

    def exists(self, path):
        """
        Check for the specified path, or check a file at the specified path.
        
        :rtype: boolean
        :return: If the path or the file exist, the function returns True.
        """
        return os.path.exists(path)

    def shell(self):
        raise NotImplementedError('shell not supported with LocalClient')

    def run(self):
        """
        Open a subprocess and run a command on the local host.
        
        :rtype: tuple
        :return: This function returns a tuple that contains an integer status
                and a string with the combined stdout and stderr output.
        """
        boto.log.info('running:%s' % self.command)
        log_fp = StringIO()
        process = subprocess.Popen(self.command, shell=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None:
            time.sleep(1)
            t = process.communicate()
            log_fp.write(t[0])
            log_fp.write(t[1])
        boto.log.info(log_fp.getvalue())
        boto.log.info('output: %s' % log_fp.getvalue())
        return (process.returncode, log_fp.getvalue())

    def close(self):
        pass

class FakeServer(object):
    """
    This object has a subset of the variables that are normally in a
    :class:`boto.manage.server.Server` object. You can use this FakeServer
    object to create a :class:`boto.manage.SSHClient` object if you
    don't have a real Server object.
    
    :ivar instance: A boto Instance object.
    :ivar ssh_key_file: The path to the SSH key file.
    """
    def __init__(self, instance, ssh_key_file):
        self.instance = instance
        self.ssh_key_file = ssh_key_file
        self.hostname = instance.dns_name
        self.instance_id = self.instance.id

def start(server):
    """
    Connect to the specified server.

    :return: If the server is local, the function returns a 
            :class:`boto.manage.cmdshell.LocalClient` object.
            If the server is remote, the function returns a
            :class:`boto.manage.cmdshell.SSHClient` object.
    """
    instance_id = boto.config.get('Instance', 'instance-id', None)
    if instance_id == server.instance_id:
        return LocalClient(server)
    else:
        return SSHClient(server)
