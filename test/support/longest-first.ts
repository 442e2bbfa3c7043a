import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, so that no worker is left alone with one at the end. Where a file stands is a hint and no more. */
const LONGEST = [
  'test/e2e/backup-kill.test.ts',
  'test/e2e/panel-update-kill.test.ts',
  'test/e2e/panel-update.test.ts',
  'test/e2e/schema-kill.test.ts',
  'test/faults/write-behind-mongodb.test.ts',
  'test/engine/mongo/schema-crash.test.ts',
  'test/e2e/package.test.ts',
  'test/contract/differential.test.ts',
  'test/faults/full-disk.test.ts',
  'test/e2e/embedded.test.ts',
  'test/e2e/sample-guide.test.ts',
  'test/engine/mongo/queue-crash.test.ts',
  'test/e2e/install-kill.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/main-job.test.ts',
  'test/e2e/backup-job-kill.test.ts',
  'test/engine/mongo/old-plan.test.ts',
  'test/e2e/stream.test.ts',
  'test/stream/bounds.test.ts',
  'test/panel/installs/install.test.ts',
  'test/e2e/sample-crash.test.ts',
  'test/unit/write-behind/simulation.test.ts',
  'test/e2e/sample.test.ts',
  'test/panel/server-updates/server-updates.test.ts',
  'test/e2e/copy-kill.test.ts',
  'test/e2e/fx-server.test.ts',
  'test/e2e/host-contract.test.ts',
  'test/e2e/keeper.test.ts',
  'test/faults/',
  'test/engine/mongo/',
  'test/api/backup.test.ts',
  'test/moving/mysql-import-kill.test.ts',
  'test/house/servers.test.ts',
  'test/panel/browser/',
  'test/contract/odd-names.test.ts',
  'test/unit/connector/hanging-address.test.ts',
  'test/panel/packages/script-build.test.ts',
  'test/e2e/',
  'test/panel/routes/sign-in.test.ts',
  'test/backup/',
  'test/contract/derived-kill.test.ts',
  'test/contract/write-behind-boxes.test.ts',
  'test/contract/moving',
  'test/unit/connector/stream.test.ts',
  'test/api/',
  'test/moving/',
];

/** Projects one after another, because a process that runs file after file serves one project; in each the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((part) => moduleId.includes(part));
      return place < 0 ? LONGEST.length : place;
    };
    const order = new Map(sorted.map((file) => [file, [projects.indexOf(file.project), rank(file)] as const]));
    const of = (file: TestSpecification) => order.get(file) as readonly [number, number];
    return sorted.sort((a, b) => of(a)[0] - of(b)[0] || of(a)[1] - of(b)[1]);
  }
}
