import type { FastifyRequest } from 'fastify';
import type { ReadTold, Told } from '../../delivery/attempts/told.ts';
import { withDueDates } from './choices.ts';
import { maySee } from '../../filings/detection/triage.ts';
import type { ListedFiling } from '../../filings/lists/filing-list-store.ts';
import { ownerOf } from '../access/own-subscriptions.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../shared/problem.ts';
import { filingView } from './view.ts';

/**
 * A filing with the subscriptions that were notified of it; null if its status is not REJECTED, or if they
 * are not known.
 */
export type WithTold<F extends ListedFiling> = F & { readonly told: readonly Told[] | null };

/** Adds to rejections, in their order, the notified subscriptions, as far as the caller sees them. */
export type AddTold = <F extends ListedFiling>(
  account: string,
  filings: readonly F[],
) => Promise<WithTold<F>[]>;

/** Reads for one request: the subscriptions of an account are opened once. */
export function createAddTold({ openTold }: Pick<ApiDeps, 'openTold'>, request: FastifyRequest): AddTold {
  const open = new Map<string, Promise<ReadTold>>();
  return async (account, filings) => {
    const rejected = filings.filter(({ state }) => maySee(state));
    if (rejected.length === 0) return filings.map((filing) => ({ ...filing, told: null }));
    const opened = open.get(account) ?? openTold(account, ownerOf(request));
    open.set(account, opened);
    const told = await (await opened)(rejected);
    return filings.map((filing) => ({ ...filing, told: told.get(filing.id) ?? null }));
  };
}

/** The same for filings of several accounts. */
export async function addToldOfAll<F extends ListedFiling & { readonly account: string }>(
  addTold: AddTold,
  filings: readonly F[],
): Promise<WithTold<F>[]> {
  const byAccount = Map.groupBy(filings, ({ account }) => account);
  const added = await Promise.all(Array.from(byAccount, ([account, own]) => addTold(account, own)));
  const told = new Map(added.flat().map((filing) => [`${filing.account}\0${filing.id}`, filing]));
  return filings.flatMap(({ account, id }) => told.get(`${account}\0${id}`) ?? []);
}

/** A filing as the API shows it. Throws the problem 404 if there is none. */
export async function showFiling(
  deps: Pick<ApiDeps, 'accounts' | 'filings' | 'openTold'>,
  request: FastifyRequest,
  account: string,
  filingId: string,
) {
  const filing = await deps.filings.get(account, filingId);
  if (filing === null) throw notFound('filing_not_found');
  const dated = await withDueDates(deps, [{ ...filing, account }]);
  const [shown] = await createAddTold(deps, request)(account, dated);
  if (shown === undefined) throw notFound('filing_not_found');
  return filingView(shown);
}
