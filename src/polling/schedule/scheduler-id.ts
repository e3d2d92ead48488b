const idStart = 'poll-';

/** Id of the scheduler of an account. Ids may not consist of digits alone, which an account's name may. */
export function schedulerId(account: string): string {
  return idStart + account;
}

/** The account of a scheduler; null when it is none of an account. */
export function accountOf(id: string): string | null {
  return id.startsWith(idStart) ? id.slice(idStart.length) : null;
}
