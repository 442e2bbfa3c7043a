import { describe, expect, it } from 'vitest';
import { CommandHistory, type HistoryStore } from '#panel/web/console/command-history.ts';
import { parseLogText } from '#panel/web/console/entry.ts';

function storeWith(value: string | null = null): HistoryStore & { value: string | null } {
  return {
    value,
    getItem() {
      return this.value;
    },
    setItem(_key, text) {
      this.value = text;
    },
  };
}

describe('the history of commands', () => {
  it('goes up to the first command, and down to what was being typed', () => {
    const history = new CommandHistory(storeWith(), 'alex');
    history.add('status');
    history.add('restart shop');
    expect(history.older('half a comm')).toBe('restart shop');
    expect(history.older('restart shop')).toBe('status');
    expect(history.older('status')).toBe('status');
    expect(history.newer('status')).toBe('restart shop');
    expect(history.newer('restart shop')).toBe('half a comm');
    expect(history.newer('half a comm')).toBe('half a comm');
  });

  it('is there after a reload, at most a hundred, repeats once', () => {
    const store = storeWith();
    const history = new CommandHistory(store, 'alex');
    for (let index = 0; index < 150; index++) history.add(`say ${index}`);
    history.add('say 149');
    expect(JSON.parse(store.value ?? '')).toHaveLength(100);
    expect(new CommandHistory(store, 'alex').older('')).toBe('say 149');
  });

  it.each(['{"a":1}', 'no json', '[1,null]'])('begins empty where the store holds %s', (stored) => {
    expect(new CommandHistory(storeWith(stored), 'alex').older('typed')).toBe('typed');
  });

  it('goes on where the store refuses', () => {
    const store = storeWith();
    store.setItem = () => {
      throw new Error('full');
    };
    const history = new CommandHistory(store, 'alex');
    history.add('status');
    expect(history.older('')).toBe('status');
  });
});

describe('lines of a log file', () => {
  it('are read as they were written; rest of a cut line is left out', () => {
    const text =
      'rest of a line\n7 2026-11-23T01:02:03.000Z out [shop] hello  world\n8 2026-11-23T01:02:04.000Z err \n';
    expect(parseLogText(text)).toEqual([
      { seq: 7, time: '2026-11-23T01:02:03.000Z', stream: 'out', text: '[shop] hello  world' },
      { seq: 8, time: '2026-11-23T01:02:04.000Z', stream: 'err', text: '' },
    ]);
  });
});
