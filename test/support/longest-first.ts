import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, so that no worker is left alone with one at the end. Where a file stands is a hint and no more. */
const LONGEST = [
  'test/e2e/panel-update.test.ts',
  'test/e2e/schema-kill.test.ts',
  'test/e2e/backup-kill.test.ts',
  'test/faults/write-behind-mongodb.test.ts',
  'test/engine/mongo/schema-crash.test.ts',
  'test/e2e/embedded.test.ts',
  'test/e2e/install-kill.test.ts',
  'test/e2e/sample-crash.test.ts',
  'test/e2e/package.test.ts',
  'test/e2e/stream.test.ts',
  'test/e2e/keeper.test.ts',
  'test/e2e/copy-kill.test.ts',
  'test/moving/mysql-import-kill.test.ts',
  'test/stream/bounds.test.ts',
  'test/engine/mysql/old-plan.test.ts',
  'test/faults/',
  'test/contract/differential.test.ts',
  'test/e2e/write-behind-kill.test.ts',
  'test/engine/mongo/',
  'test/panel/server-updates/server-updates.test.ts',
  'test/panel/installs/install.test.ts',
  'test/api/backup.test.ts',
  'test/unit/write-behind/simulation.test.ts',
  'test/house/servers.test.ts',
  'test/panel/routes/sign-in.test.ts',
  'test/contract/derived',
  'test/contract/moving',
  'test/contract/frameworks.test.ts',
  'test/contract/odd-names.test.ts',
  'test/panel/server/control.test.ts',
  'test/panel/server/server-kinds.test.ts',
  'test/panel/browser/',
  'test/api/',
  'test/e2e/',
  'test/moving/',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((part) => moduleId.includes(part));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
