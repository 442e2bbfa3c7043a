import type { Gauge } from './api/metrics.ts';
import type { WriteBufferFigures } from './write-behind/write-buffer.ts';

/** The figures of write-behind in /metrics (contract section 7). */
export function writeBufferGauges(figures: () => WriteBufferFigures): Gauge[] {
  const of = (type: Gauge['type']) => (name: string, help: string, pick: (now: WriteBufferFigures) => number) => ({
    ...{ name: `sidecar_${name}`, help, type },
    read: () => pick(figures()),
  });
  const counter = of('counter');
  const gauge = of('gauge');
  return [
    gauge('write_buffer_pending', 'Acknowledged writes that are not applied yet.', (now) => now.pending),
    gauge('write_buffer_pending_bytes', 'Bytes of their payloads.', (now) => now.pendingBytes),
    gauge('write_buffer_oldest_age_seconds', 'Age of the oldest of them.', (now) => now.oldestAgeSeconds),
    gauge(
      'write_buffer_dead_letters',
      'Writes that can never succeed, kept in the database.',
      (now) => now.deadLetters,
    ),
    gauge('write_buffer_halted', 'Namespaces whose queue has halted.', (now) => now.haltedQueues),
    gauge(
      'write_buffer_lost',
      'Namespaces whose queued writes are meant for another database.',
      (now) => now.foreignQueues,
    ),
    counter('write_buffer_applied_total', 'Queued writes that were applied.', (now) => now.applied),
    counter('write_buffer_dead_lettered_total', 'Queued writes that became dead letters.', (now) => now.deadLettered),
    counter('write_buffer_batches_total', 'Batches in which they were applied.', (now) => now.batches),
    gauge('write_buffer_last_batch_writes', 'Writes in the last batch.', (now) => now.lastBatchEntries),
    gauge('write_buffer_last_batch_seconds', 'How long it took.', (now) => now.lastBatchMs / 1000),
    gauge('journal_available', '1 while the journal can be written.', ({ journal }) => (journal.isAvailable ? 1 : 0)),
    gauge('journal_bytes', 'Size of the journal on the disk.', ({ journal }) => journal.bytesOnDisk),
    gauge('journal_keys', 'Idempotency keys that the journal remembers.', ({ journal }) => journal.keys),
    counter('journal_flushes_total', 'Flushes of the journal.', ({ journal }) => journal.flushes),
    counter('journal_flush_seconds_total', 'How long they took in sum.', ({ journal }) => journal.flushMs / 1000),
    counter('journal_flushed_writes_total', 'Writes that they made durable.', ({ journal }) => journal.flushedWrites),
    gauge('journal_last_flush_seconds', 'How long the last one took.', ({ journal }) => journal.lastFlushMs / 1000),
    counter('journal_failures_total', 'Writes and flushes that the disk failed.', ({ journal }) => journal.failures),
  ];
}
