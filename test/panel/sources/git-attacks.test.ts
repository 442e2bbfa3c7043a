import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { devNull } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HostPolicy, type HostPolicyOptions } from '#panel/network/host-policy.ts';
import { Git } from '#panel/sources/git/git.ts';
import { GitProgram } from '#panel/sources/git/git-program.ts';
import { type RemoteOptions, RemoteRepositories, readRemoteUrl } from '#panel/sources/git/remote-repository.ts';
import { isBranchName, Repository } from '#panel/sources/git/repository.ts';
import { exportTree } from '#panel/sources/git/tree-export.ts';
import { commitFolder } from '#panel/sources/git/tree-import.ts';
import { describeIf } from '#support/describe-if.ts';
import {
  GIT_TOKEN,
  GIT_USER,
  type GitServer,
  noGitServer,
  type ServedRepository,
  startGitServer,
} from '#support/git-server.ts';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';

const signal = new AbortController().signal;
/** An error of the remote, as the protocol of git has it. */
const ERROR = `ERR token is ${GIT_TOKEN}`;
const TELLING = `${(ERROR.length + 4).toString(16).padStart(4, '0')}${ERROR}`;
const AUTHOR = { name: 'owner', email: 'owner@panel.invalid' };

/** Compiled into git. In the copy of a test it is a file of the folder that git runs in, with a path as long. */
const SYSTEM_ATTRIBUTES = '/etc/gitattributes';
const OTHER_ATTRIBUTES = '/proc/self/cwd/sys';

function gitBytes(): string {
  const programs = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'git'));
  return readFileSync(programs.find((path) => existsSync(path)) ?? devNull, 'latin1');
}

const noOtherGit = gitBytes().split(SYSTEM_ATTRIBUTES).length === 2 ? null : 'this git has its attributes elsewhere';

async function newRepository(program: string | null = null): Promise<Repository> {
  const folder = testFolder();
  const repository = new Repository(new Git(new GitProgram(program), folder), join(folder, 'shop.git'));
  await repository.create();
  return repository;
}

describe('a remote address', () => {
  it.each([
    'ext::sh -c touch% /tmp/x',
    'file:///etc',
    '/etc',
    'ssh://git@example.org/x',
    'http://example.org/x',
    'git@example.org:x',
    '--upload-pack=touch /tmp/x',
    'https://user:password@example.org/x',
    'https://user@example.org/x',
    'https://example.org\\@evil.example/x',
    'https://example.org/x?y',
    'https://example.org/x#y',
    'https://example.org/a b',
    'https://example.org/a\nb',
    `https://example.org/${'a'.repeat(1000)}`,
  ])('is refused: %s', (given) => {
    expect(() => readRemoteUrl(given)).toThrow(/expected https/);
  });

  it.each([
    '--force',
    '-x',
    'a..b',
    'refs/../x',
    'a b',
    'a~1',
    'a^{/x}',
    'x.lock',
    'a@{1}',
    ':x',
    '/a',
    'a/',
    'a'.repeat(300),
  ])('and a branch: %s', (name) => {
    expect(isBranchName(name)).toBe(false);
  });
});

describe('git itself', () => {
  it('speaks no protocol but https', async () => {
    const repository = await newRepository();
    const proof = join(testFolder(), 'proof');
    const other = testFolder();
    execFileSync('git', ['init', '--quiet', other]);
    for (const url of [
      `ext::sh -c touch% ${proof}`,
      `file://${other}`,
      other,
      'ssh://localhost/x',
      'http://localhost/x',
    ]) {
      await expect(repository.run(['fetch', '--end-of-options', url])).rejects.toThrow(/not allowed|allowed/);
    }
    expect(existsSync(proof)).toBe(false);
  });

  it('runs no hook, also if one lies in the repository', async () => {
    const repository = await newRepository();
    const proof = join(testFolder(), 'proof');
    mkdirSync(join(repository.folder, 'hooks'));
    const hook = join(repository.folder, 'hooks/reference-transaction');
    writeFileSync(hook, `#!/bin/sh\ntouch ${proof}\n`);
    chmodSync(hook, 0o755);
    const folder = testFolder();
    writeFileSync(join(folder, 'a'), '1');
    const made = await commitFolder(repository, {
      ...{ folder, root: '', parent: null, message: 'x', author: AUTHOR, atEpochMs: 0, signal },
    });
    await repository.moveRefs([{ ref: 'refs/heads/main', to: made, from: null }]);
    expect(existsSync(proof)).toBe(false);
    execFileSync('git', ['--git-dir', repository.folder, 'update-ref', 'refs/heads/other', made]);
    expect(existsSync(proof)).toBe(true);
  });

  it('moves a ref only from its known value, and all refs or none', async () => {
    const repository = await newRepository();
    const folder = testFolder();
    writeFileSync(join(folder, 'a'), '1');
    const commit = (parent: string | null) =>
      commitFolder(repository, { folder, root: '', parent, message: 'x', author: AUTHOR, atEpochMs: 0, signal });
    const [first, second] = [await commit(null), await commit(await commit(null))];
    await repository.moveRefs([{ ref: 'refs/heads/main', to: first, from: null }]);
    const moves = [
      { ref: 'refs/heads/other', to: second, from: null },
      { ref: 'refs/heads/main', to: second, from: second },
    ];
    await expect(repository.moveRefs(moves)).rejects.toThrow();
    expect(await repository.refs()).toEqual([{ name: 'main', kind: 'branch', commit: first }]);
  });

  it('takes nothing of the environment', async () => {
    const repository = await newRepository();
    vi.stubEnv('GIT_CONFIG_COUNT', '1');
    vi.stubEnv('GIT_CONFIG_KEY_0', 'alias.mine');
    vi.stubEnv('GIT_CONFIG_VALUE_0', 'rev-parse HEAD');
    vi.stubEnv('SECRET_OF_THE_SIDECAR', 'hunter2');
    try {
      await expect(repository.run(['mine'])).rejects.toThrow("'mine' is not a git command");
      const seen = await repository.text(['env'], { config: ['alias.env=!env'] });
      expect(seen).toContain('GIT_TERMINAL_PROMPT=0');
      expect(seen).not.toContain('hunter2');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('reads no configuration of the system and none of a user', async () => {
    const folder = testFolder();
    const [system, program] = [join(folder, 'gitconfig'), join(folder, 'git')];
    const hostile = '[alias]\n\tmine = rev-parse --git-dir\n';
    writeFileSync(system, hostile);
    // A git whose /etc/gitconfig is this file: only its own switches keep it from that.
    writeFileSync(program, `#!/bin/sh\nexport GIT_CONFIG_SYSTEM="\${GIT_CONFIG_SYSTEM-${system}}"\nexec git "$@"\n`);
    chmodSync(program, 0o755);
    const repository = await newRepository(program);
    expect(execFileSync(program, [`--git-dir=${repository.folder}`, 'mine'], { encoding: 'utf8' })).toContain(
      'shop.git',
    );
    writeFileSync(join(dirname(repository.folder), 'home/.gitconfig'), hostile);
    await expect(repository.run(['mine'])).rejects.toThrow("'mine' is not a git command");
    expect((await repository.text(['config', '--list', '--show-scope'])).match(/^(system|global)/m)).toBeNull();
  });

  itIf(noOtherGit, 'reads no attributes of the system', async () => {
    const folder = testFolder();
    const program = join(folder, 'git');
    writeFileSync(program, Buffer.from(gitBytes().replace(SYSTEM_ATTRIBUTES, OTHER_ATTRIBUTES), 'latin1'), {
      mode: 0o755,
    });
    const repository = await newRepository(program);
    const asked = ['check-attr', '--all', 'a'];
    const home = join(dirname(repository.folder), 'home');
    writeFileSync(join(home, basename(OTHER_ATTRIBUTES)), '* filter=mine hostile\n');
    const seen = execFileSync(program, [`--git-dir=${repository.folder}`, ...asked], { cwd: home, encoding: 'utf8' });
    expect(seen).toContain('a: hostile: set');
    expect(await repository.text(asked)).toBe('');
  });

  it('commits no link of a folder and reads none', async () => {
    const repository = await newRepository();
    const folder = testFolder();
    symlinkSync('/etc/passwd', join(folder, 'passwd'));
    const commit = { folder, root: '', parent: null, message: 'x', author: AUTHOR, atEpochMs: 0, signal };
    await expect(commitFolder(repository, commit)).rejects.toThrow('passwd: is neither a file nor a folder');
  });
});

describeIf(noGitServer, 'a hostile remote', () => {
  let server: GitServer;

  beforeAll(async () => {
    server = await startGitServer(
      testFolder(),
      `location /moved/ { rewrite ^/moved/(.*)$ /public/$1 redirect; }
      location /echo/ { add_header WWW-Authenticate 'Basic realm="x"' always; default_type application/x-git-upload-pack-advertisement;
        if ($http_authorization = "") { return 401; }
        return 200 "001e# service=git-upload-pack\\n0000${TELLING}"; }`,
    );
  });

  afterAll(() => server.stop());

  /** Output of git, as a log shows it. */
  const said: string[] = [];

  type Changes = Partial<RemoteOptions> &
    Partial<HostPolicyOptions> & { gitHosts?: string[]; privateHosts?: string[]; config?: string };

  async function fetched(url: string, changes: Changes = {}, token: string | null = null): Promise<Repository> {
    const { gitHosts = [server.host], privateHosts = [server.host], lookup, config = '', ...rest } = changes;
    const settings = () => ({ gitHosts, privateHosts });
    const hosts = new HostPolicy({ settings, ...(lookup === undefined ? {} : { lookup }) });
    const remotes = new RemoteRepositories({ hosts, authoritiesFile: server.caFile, ...rest });
    const repository = await newRepository();
    const credential = token === null ? null : { username: GIT_USER, token };
    if (config !== '') appendFileSync(join(repository.folder, 'config'), config);
    const onText = (text: string) => void said.push(text);
    await remotes.fetch(repository, { url: readRemoteUrl(url), credential }, { signal, onText });
    return repository;
  }

  async function open(name: string, files: Record<string, string> = { a: '1' }): Promise<ServedRepository> {
    const served = await server.make(`public/${name}`);
    served.commit(files);
    return served;
  }

  /** Commits a tree that no client of git would write. */
  function commitTree(served: ServedRepository, entries: string): string {
    const feed = (args: string[], input: string) =>
      execFileSync('git', ['--git-dir', served.folder, ...args], { input, encoding: 'utf8' }).trim();
    const blob = feed(['hash-object', '-w', '--stdin'], 'content');
    const inner = feed(['mktree'], `100644 blob ${blob}\tconfig\n`);
    const tree = feed(['mktree'], entries.replaceAll('BLOB', blob).replaceAll('TREE', inner));
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
    const commit = feed([...identity, 'commit-tree', tree, '-m', 'x'], '');
    feed(['update-ref', 'refs/heads/main', commit], '');
    return commit;
  }

  it('is not followed elsewhere', async () => {
    const { url } = await open('open');
    await fetched(url);
    await expect(fetched(url.replace('/public/', '/moved/'))).rejects.toMatchObject({ key: 'bundleTools.network' });
  });

  it('must be a listed host at its port, and public unless it is listed as private', async () => {
    const { url } = await open('listed');
    await expect(fetched(url, { gitHosts: [] })).rejects.toMatchObject({ key: 'bundleTools.host' });
    await expect(fetched(url, { gitHosts: ['localhost'] })).rejects.toMatchObject({ key: 'bundleTools.host' });
    await expect(fetched(url, { privateHosts: ['localhost'] })).rejects.toMatchObject({ key: 'bundleTools.host' });
    const lookup = async () => ['93.184.215.14', '10.0.0.1'];
    await expect(fetched(url, { privateHosts: [], lookup })).rejects.toThrow('private address 10.0.0.1');
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ])('is inside at %s', async (address) => {
    const lookup = async () => [address];
    const given = { gitHosts: ['forge.example'], privateHosts: [], lookup };
    await expect(fetched('https://forge.example/x', given)).rejects.toMatchObject({ key: 'bundleTools.host' });
  });

  it('is reached at the address that was judged, whatever the name resolves to later', async () => {
    const { url } = await open('pinned');
    await expect(fetched(url, { lookup: async () => ['127.0.0.2'] })).rejects.toMatchObject({
      key: 'bundleTools.network',
    });
  });

  it('needs a certificate that counts, whatever the environment says', async () => {
    const { url } = await open('certificate');
    vi.stubEnv('GIT_SSL_NO_VERIFY', '1');
    try {
      await expect(fetched(url, { authoritiesFile: null })).rejects.toMatchObject({ key: 'bundleTools.network' });
      const lenient = { authoritiesFile: null, config: '[http]\n\tsslVerify = false\n' };
      await expect(fetched(url, lenient)).rejects.toMatchObject({ key: 'bundleTools.network' });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('cannot bring a folder .git', async () => {
    const served = await open('dot-git');
    commitTree(served, '040000 tree TREE\t.git\n');
    await expect(fetched(served.url)).rejects.toThrow(/hasDotgit|fsck/);
  });

  it.each([
    ['a link', '120000 blob BLOB\tpasswd\n', 'passwd: is a link'],
    ['a submodule', `160000 commit ${'1'.repeat(40)}\tinner\n`, 'inner: is a submodule'],
    ['case twins', '100644 blob BLOB\tREADME\n100644 blob BLOB\treadme\n', 'only by case'],
    ['a name of Windows', '100644 blob BLOB\taux.lua\n', 'Windows'],
    ['a backslash', '100644 blob BLOB\ta\\b\n', 'expected /'],
  ])('cannot export %s', async (name, entries, reason) => {
    const served = await open(`tree-${name.replaceAll(' ', '-')}`);
    const commit = commitTree(served, entries);
    const repository = await fetched(served.url).catch((error: Error) => error);
    if (repository instanceof Error) {
      expect(repository.message).toMatch(/fsck|backslash|error in tree/i);
      return;
    }
    const target = join(testFolder(), 'out');
    await expect(exportTree(repository, { commit, root: '', target, signal })).rejects.toThrow(reason);
    expect(existsSync(target)).toBe(false);
  });

  it('is stopped when it sends more than the bound', async () => {
    const { url } = await open('large');
    const release = server.hold();
    await expect(fetched(url, { mostBytes: 10 })).rejects.toThrow('fetched more than');
    release();
  });

  it('cannot show the token that it was sent', async () => {
    const echoed = `${server.origin}/echo/x.git`;
    const failed = fetched(echoed, {}, GIT_TOKEN);
    await expect(failed).rejects.toThrow(/•••/);
    await expect(failed).rejects.not.toThrow(GIT_TOKEN);
    expect(said.join('')).toContain('•••');
    expect(said.join('')).not.toContain(GIT_TOKEN);
  });

  it('gets its token through no argument, environment, file or text', async () => {
    const served = await server.make('private');
    served.commit({ a: '1' });
    const release = server.hold();
    const running = fetched(served.url, {}, GIT_TOKEN);
    const isAsked = () =>
      server.requests.some((line) => line.startsWith('POST /private.git') && line.endsWith(GIT_USER));
    await expect.poll(isAsked).toBe(true);
    const seen = gitProcesses();
    expect(seen.some((text) => text.includes('remote-https'))).toBe(true);
    expect(seen.join('\n')).not.toContain(GIT_TOKEN);
    release();
    const { folder } = await running;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const file of files) expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(GIT_TOKEN);
  });
});

/** Arguments and environment of each running process that has to do with git. */
function gitProcesses(): string[] {
  const read = (pid: string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => `${read(pid, 'cmdline')} ${read(pid, 'environ')}`).filter((text) => /\bgit\b/.test(text));
}
