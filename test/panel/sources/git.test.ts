import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostPolicy } from '#panel/network/host-policy.ts';
import { Git } from '#panel/sources/git/git.ts';
import { GitProgram } from '#panel/sources/git/git-program.ts';
import { RemoteRepositories, readRemoteUrl } from '#panel/sources/git/remote-repository.ts';
import { Repository } from '#panel/sources/git/repository.ts';
import { exportTree } from '#panel/sources/git/tree-export.ts';
import { commitFolder } from '#panel/sources/git/tree-import.ts';
import { describeIf } from '#support/describe-if.ts';
import { GIT_TOKEN, GIT_USER, type GitServer, noGitServer, startGitServer } from '#support/git-server.ts';
import { testFolder } from '#support/test-folder.ts';

const signal = new AbortController().signal;
const AUTHOR = { name: 'owner', email: 'owner@panel.invalid' };
const credential = { username: GIT_USER, token: GIT_TOKEN };

async function repositoryIn(folder: string, name = 'shop'): Promise<Repository> {
  const repository = new Repository(new Git(new GitProgram(null), folder), join(folder, `${name}.git`));
  await repository.create();
  return repository;
}

describeIf(noGitServer, 'git over https', () => {
  let server: GitServer;
  let folder: string;

  beforeAll(async () => {
    folder = testFolder();
    server = await startGitServer(folder);
  });

  afterAll(() => server.stop());

  function remotes() {
    const hosts = new HostPolicy({ settings: () => ({ gitHosts: [server.host], privateHosts: [server.host] }) });
    return new RemoteRepositories({ hosts, authoritiesFile: server.caFile });
  }

  it('fetches with a password, exports the tree, commits a folder, and pushes from the known commit alone', async () => {
    const served = await server.make('shop');
    const first = served.commit({
      'fxmanifest.lua': 'fx_version "cerulean"\n',
      'ui/main.js': 'one\n',
      'run.sh': '#!/bin/sh\n',
    });
    const repository = await repositoryIn(testFolder());
    const remote = { url: readRemoteUrl(served.url), credential };
    const said: string[] = [];
    await remotes().fetch(repository, remote, { signal, onText: (text) => void said.push(text) });
    expect(await repository.refs()).toEqual([{ name: 'main', kind: 'remote', commit: first }]);
    expect(await remotes().look(repository, remote, { signal })).toEqual({ branch: 'main' });

    const target = join(testFolder(), 'out');
    const files = await exportTree(repository, { commit: first, root: '', target, signal });
    expect(files?.map(({ path }) => path).toSorted()).toEqual(['fxmanifest.lua', 'run.sh', 'ui/main.js']);
    expect(readFileSync(join(target, 'ui/main.js'), 'utf8')).toBe('one\n');
    expect(statSync(join(target, 'run.sh')).mode & 0o777).toBe(0o644);

    writeFileSync(join(target, 'ui/main.js'), 'two\n');
    const second = await commitFolder(repository, {
      ...{
        folder: target,
        root: '',
        parent: first,
        message: 'as it lies',
        author: AUTHOR,
        atEpochMs: 1_700_000_000_000,
        signal,
      },
    });
    expect(await repository.counts(first, second)).toEqual({ a: 0, b: 1 });
    await remotes().push(repository, remote, { signal }, 'main', second, first);
    expect(served.git('rev-parse', 'main')).toBe(second);
    const other = served.commit({ 'late.txt': 'x' });
    await expect(remotes().push(repository, remote, { signal }, 'main', first, second)).rejects.toMatchObject({
      key: 'bundleTools.moved',
    });
    expect(served.git('rev-parse', 'main')).toBe(other);
    const everything = readdirSync(repository.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const contents = everything.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('');
    expect(contents + said.join('')).not.toContain(GIT_TOKEN);
  });

  it('refuses a wrong password and a missing one, and says nothing of it', async () => {
    const served = await server.make('locked');
    served.commit({ a: '1' });
    const repository = await repositoryIn(testFolder());
    const url = readRemoteUrl(served.url);
    for (const given of [null, { username: GIT_USER, token: 'wrong-token' }]) {
      const failed = remotes().fetch(repository, { url, credential: given }, { signal });
      await expect(failed).rejects.toMatchObject({ key: 'bundleTools.credentials' });
      await expect(failed).rejects.not.toThrow('wrong-token');
    }
  });
});
