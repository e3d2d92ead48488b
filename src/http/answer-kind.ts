import type { ServerResponse } from 'node:http';

/**
 * The cost of an answer while its client takes it: `data` has its bytes in memory, `shared` shares them with
 * all others of its kind, an `export` is long and made as it is taken, a `stream` lasts.
 */
export type AnswerKind = 'data' | 'shared' | 'export' | 'stream';

const kinds = new WeakMap<ServerResponse, AnswerKind>();

/** Says what kind of answer this will be; to be called before it is sent. */
export function markAnswer(response: ServerResponse, kind: AnswerKind): void {
  kinds.set(response, kind);
}

/** The kind of an answer; `data` unless it was marked. */
export function answerKind(response: ServerResponse): AnswerKind {
  return kinds.get(response) ?? 'data';
}
