import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectZip } from '#panel/work/inspect-zip.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, writeFiles } from '../support/install-rig.ts';
import { rawZip } from '../support/raw-zip.ts';

let folder: string;

beforeEach(() => {
  folder = testFolder();
  writeFiles(join(folder, 'kiosk'), { ...bundleOf('2.0.0'), 'größe/ä.txt': 'ä', 'empty.txt': '' });
});

const inspect = () =>
  inspectZip({ file: join(folder, 'out.zip'), archiveName: 'kiosk.zip', installed: new Map() }, () => {});
const python = (text: string) => execFileSync('python3', ['-c', text], { cwd: folder });
const reason = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => `${error.key} ${error.details.entry}: ${error.details.detail}`,
  );

describe('an archive of another program is read', () => {
  it.each<[string, () => unknown]>([
    [
      'Info-ZIP, from a pipe, with sizes behind the content',
      () => {
        const { stdout } = spawnSync('zip', ['-qr', '-', 'kiosk'], { cwd: folder });
        writeFileSync(join(folder, 'out.zip'), stdout);
      },
    ],
    [
      'Info-ZIP, with each entry in the form zip64',
      () => spawnSync('zip', ['-qr', '-fz', 'out.zip', 'kiosk'], { cwd: folder }),
    ],
    [
      'Python, with each entry in the form zip64',
      () =>
        python(`
import zipfile, os
with zipfile.ZipFile('out.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    for top, _, names in os.walk('kiosk'):
        for name in names:
            with z.open(zipfile.ZipInfo(os.path.join(top, name)), 'w', force_zip64=True) as out:
                out.write(open(os.path.join(top, name), 'rb').read())
`),
    ],
    [
      'Python, as a stream that cannot seek',
      () =>
        python(`
import zipfile, os, subprocess
class Pipe:
    def __init__(self, f): self.f = f
    def write(self, b): return self.f.write(b)
    def flush(self): self.f.flush()
with open('out.zip', 'wb') as f, zipfile.ZipFile(Pipe(f), 'w', zipfile.ZIP_DEFLATED) as z:
    for top, _, names in os.walk('kiosk'):
        for name in names: z.write(os.path.join(top, name))
`),
    ],
    [
      'Java, with the mark of jar and without modes of Unix',
      () =>
        python(`
import zipfile, os
with zipfile.ZipFile('out.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    for top, _, names in os.walk('kiosk'):
        for name in names:
            info = zipfile.ZipInfo(os.path.join(top, name))
            info.create_system, info.external_attr, info.extra = 0, 0x20, b'\\xfe\\xca\\x00\\x00'
            z.writestr(info, open(os.path.join(top, name), 'rb').read(), zipfile.ZIP_DEFLATED)
`),
    ],
  ])('%s', async (_what, make) => {
    make();
    expect((await inspect()).bundles).toMatchObject([{ name: 'kiosk', version: '2.0.0', files: 4, added: 4 }]);
  });
});

describe('an archive that lies is refused', () => {
  const files = Object.entries(bundleOf('1.0.0')).map(([path, data]) => ({ name: `shop/${path}`, data }));

  it('with 70,000 entries', async () => {
    python(`
import zipfile
with zipfile.ZipFile('out.zip', 'w') as z:
    for n in range(70000): z.writestr(f'shop/{n}', '')
`);
    expect(await reason(inspect())).toMatch(/upload\.archive .*expected at most 20000 entries/);
  });

  it('with a comment that holds a second end record: it is read one way, or not at all', async () => {
    const [hidden, shown] = [rawZip([{ name: 'evil/bundle.json', data: '{}' }]), rawZip(files)];
    const comment = hidden.subarray(-22);
    const head = Buffer.from(shown);
    head.writeUInt16LE(comment.length, head.length - 2);
    writeFileSync(join(folder, 'out.zip'), Buffer.concat([head, comment]));
    expect(await reason(inspect())).toMatch(/^upload\.archive/);
  });

  it('with bytes after its end', async () => {
    writeFileSync(join(folder, 'out.zip'), Buffer.concat([rawZip(files), Buffer.from('more')]));
    expect(await reason(inspect())).toMatch(/^upload\.archive/);
  });

  it('with a number of entries that is not theirs', async () => {
    for (const count of [1, 3, 0, 0xfffe]) {
      const zip = rawZip(files);
      zip.writeUInt16LE(count, zip.length - 12);
      zip.writeUInt16LE(count, zip.length - 14);
      writeFileSync(join(folder, 'out.zip'), zip);
      expect(await reason(inspect()), String(count)).toMatch(/^upload\./);
    }
  });
});
