import type { Api } from '../server/api-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { filingNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';
import { markSeen, unmarkSeen } from './seen-schema.ts';
import { filingView } from './view.ts';

/** Notes of people that they have seen a rejection. */
export function addSeenRoutes(app: Api, { filings, seen, now }: ApiDeps): void {
  const path = '/accounts/:account/filings/:filingId/seen';

  app.put(path, { schema: markSeen }, async ({ params: { account, filingId }, body }) => {
    const mark = { by: body.by.trim(), note: body.note?.trim() ?? null, at: now() };
    const marked = await seen.mark(account, filingId, mark);
    if (marked === 'full')
      throw new Problem(
        'account_quota_exceeded',
        'Too many rejections are marked as seen; take some marks away.',
      );
    const filing = await filings.get(account, filingId);
    if (filing === null || marked === 'gone') throw filingNotFound();
    if (marked === 'not_rejected')
      throw new Problem(
        'filing_not_rejected',
        'Only a filing that is REJECTED now can be marked as seen; GET the filing shows its status.',
      );
    return filingView(filing);
  });

  app.delete(path, { schema: unmarkSeen }, async ({ params: { account, filingId } }, reply) => {
    if ((await filings.get(account, filingId)) === null) throw filingNotFound();
    await seen.unmark(account, filingId);
    return reply.code(204).send(null);
  });
}
