import { consequence, isRefusal, PartnerError } from '../../partner/partner-error.ts';

/** The result of reading a list; `refused` when the service refuses to serve it. */
export async function unlessRefused<T, const R>(reading: Promise<T>, refused: R): Promise<T | R> {
  try {
    return await reading;
  } catch (error) {
    if (isRefusal(error)) return refused;
    throw error;
  }
}

/** The result of a read that the poll can do without, or null if the service fails or refuses it. */
export async function unlessFailed<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PartnerError && consequence(error, 'list') === 'left_out') return null;
    throw error;
  }
}
