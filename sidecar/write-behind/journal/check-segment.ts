import type { EngineLog } from '#engine/log.ts';
import type { Disk } from './disk.ts';
import { reasonOf } from './disk-errors.ts';
import type { Segment } from './segment.ts';
import { scanSegment } from './segment-scan.ts';
import { readWhole } from './whole-file.ts';

/** Whether a segment whose flush failed still gives back what was acknowledged before. Never throws. */
export async function checkSegment(disk: Disk, segment: Segment, log: EngineLog): Promise<void> {
  const { path: file } = segment;
  try {
    const bytes = await readWhole(disk, file);
    const { gaps } = scanSegment(bytes, segment.number, segment.end, bytes.length);
    segment.lostBytes = gaps.reduce((sum, gap) => sum + gap.bytes, 0);
    if (gaps.length === 0) return;
    log('error', 'the journal does not give back writes that were acknowledged', { file, bytes: segment.lostBytes });
  } catch (error) {
    log('error', `the journal cannot be read back after the failure: ${reasonOf(error)}`, { file });
  }
}
