import type { Accounts } from '../accounts.ts';
import { SandboxError } from '../errors.ts';
import type { SandboxApp } from '../sandbox-app.ts';

/** The header that carries the partner's key (partner specification, Authentication), as Node names it. */
export const keyHeader = 'partnerkey';

/** Refuses every request of a scope that carries no valid key, even for a path that does not exist. */
export function addKeyCheck(app: SandboxApp, accounts: Accounts): void {
  app.decorateRequest('account');
  app.addHook('onRequest', async (request) => {
    const key = request.headers[keyHeader];
    if (typeof key !== 'string' || key === '') {
      throw new SandboxError('PARTNER_KEY_MISSING', 'the PartnerKey header is missing');
    }
    const account = accounts.byKey(key);
    if (account === undefined) throw new SandboxError('PARTNER_KEY_INVALID', 'the partner key is not valid');
    request.setDecorator('account', account);
  });
}
