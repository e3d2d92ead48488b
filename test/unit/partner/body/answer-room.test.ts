import { describe, expect, it } from 'vitest';
import { createAnswerRoom } from '../../../../src/partner/body/answer-room.ts';

const never = new AbortController().signal;

/** Takes room, and tells who got it in which order. */
function queueAt(bytesMax: number) {
  const room = createAnswerRoom(bytesMax);
  const got: string[] = [];
  const releases: (() => void)[] = [];
  const take = (name: string, bytes: number, signal = never) =>
    room.take(name, bytes, signal).then((release) => {
      got.push(name);
      releases.push(release);
    });
  return { take, got, releases };
}
const settled = () => new Promise(setImmediate);

describe('room for answers', () => {
  it('is given until it is full, and again when some comes back', async () => {
    const { take, got, releases } = queueAt(10);
    for (const name of ['a', 'b', 'c']) void take(name, 4);
    await settled();
    expect(got).toEqual(['a', 'b']);
    releases[0]?.();
    releases[0]?.();
    await settled();
    expect(got).toEqual(['a', 'b', 'c']);
    void take('d', 4);
    await settled();
    expect(got).toHaveLength(3);
  });

  it('is given to accounts in turns', async () => {
    const { take, got, releases } = queueAt(4);
    for (const name of ['a', 'a', 'a', 'b', 'c']) void take(name, 4);
    for (let i = 0; i < 5; i += 1) {
      await settled();
      releases[i]?.();
    }
    expect(got).toEqual(['a', 'a', 'b', 'c', 'a']);
  });

  it('is given for any size where nothing else is there, and to none before', async () => {
    const { take, got, releases } = queueAt(10);
    void take('small', 2);
    void take('huge', 100);
    void take('late', 1);
    await settled();
    expect(got).toEqual(['small']);
    releases[0]?.();
    await settled();
    expect(got).toEqual(['small', 'huge']);
    releases[1]?.();
    await settled();
    expect(got).toEqual(['small', 'huge', 'late']);
  });

  it('is not given to a request that was stopped, and the next gets it', async () => {
    const { take, got, releases } = queueAt(10);
    const stop = new AbortController();
    void take('a', 10);
    const stopped = take('b', 10, stop.signal);
    void take('c', 10);
    await settled();
    stop.abort(new Error('over'));
    await expect(stopped).rejects.toThrow('over');
    releases[0]?.();
    await settled();
    expect(got).toEqual(['a', 'c']);
    await expect(take('d', 1, stop.signal)).rejects.toThrow('over');
  });
});
