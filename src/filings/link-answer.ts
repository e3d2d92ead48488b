import { answerCommit, type Answers, type StoredFiling } from './answers.ts';
import { unlessLost } from './commit/commit-writer.ts';
import { maySee } from './detection/triage.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** The result of a person's word on which filing answers a rejection. */
export type Linked =
  | 'linked' // or unlinked, with its event
  | 'unchanged' // it was so already; nothing is written
  | 'unknown' // no poll has seen the filing, or the service knows it no more
  | 'not_rejected' // only a filing that is REJECTED is answered
  | 'unknown_answer' // the same of the other filing, or it is the rejection itself
  | 'answers_another' // a filing answers one rejection at most
  | 'circle'; // the other filing is, in the end, answered by this one

export interface LinkDeps {
  readonly snapshot: Pick<SnapshotStore, 'commit'>;
  readonly answers: Pick<Answers, 'read' | 'answeredBy'>;
  readonly polling: { read(account: string): Promise<{ readonly generation: string }> };
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

const conflictRetriesMax = 10;
// Maximum number of filings of which each answers the one before.
const chainMax = 100;

/**
 * Writes that a filing answers a rejection, or with null that none does, together with its event and only
 * while both filings are as they were looked at. After a conflict both are looked at again.
 */
export async function linkAnswer(
  deps: LinkDeps,
  account: string,
  id: string,
  answeredBy: string | null,
): Promise<Linked> {
  for (let attempt = 0; attempt <= conflictRetriesMax; attempt += 1) {
    const { generation } = await deps.polling.read(account);
    const rejection = await deps.answers.read(account, id);
    if (rejection === null || rejection.stored.state.removed) return 'unknown';
    const { state } = rejection.stored;
    if ((state.answeredBy ?? null) === answeredBy) return 'unchanged';
    if (!maySee(state)) return 'not_rejected';
    const answer = answeredBy === null ? null : await findAnswer(deps, account, id, answeredBy);
    if (typeof answer === 'string') return answer;
    const commit = answerCommit({ account, generation }, rejection, answeredBy, deps.now());
    const linked = answer === null ? commit : { ...commit, joined: unchanged(answer) };
    const results = await unlessLost(deps.snapshot.commit(account, generation, [linked], deps.now()));
    if (results?.[0]?.kind === 'written') return 'linked';
  }
  throw new Error('the filing changed under every attempt to say what answers it');
}

async function findAnswer(
  { answers }: LinkDeps,
  account: string,
  rejection: string,
  id: string,
): Promise<StoredFiling | Linked> {
  const answer = await answers.read(account, id);
  if (answer === null || answer.stored.state.removed || id === rejection) return 'unknown_answer';
  const [answered = null] = await answers.answeredBy(account, [id]);
  if (answered !== null && answered !== rejection) return 'answers_another';
  let later: StoredFiling | null = answer;
  for (let length = 0; later !== null && length < chainMax; length += 1) {
    const next: string | undefined = later.stored.state.answeredBy;
    if (next === rejection) return 'circle';
    later = next === undefined ? null : await answers.read(account, next);
  }
  return later === null ? answer : 'circle';
}

// Written with the other one, it makes sure that the filing is still as it was looked at.
function unchanged({ id, stored }: StoredFiling) {
  return { id, previous: stored, next: stored.state, details: 'kept', event: null } as const;
}
