import { type Accounts } from '../accounts.ts';
import { SandboxError } from '../errors.ts';
import { type SandboxApp } from '../sandbox-app.ts';
import { IsObject, type TObject } from 'typebox';

/** The header with the partner's key, as Node names it. */
export const keyHeader = 'partnerkey';

/** Refuses every request of a scope without a valid key, even for a path that does not exist. */
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

/**
 * Treats `null` in an optional field of a body as if the field were left out, on every route of the scope.
 */
export function takeNullAsAbsent(app: SandboxApp): void {
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body;
    if (IsObject(schema)) request.body = withoutNulls(request.body, schema);
  });
}

function withoutNulls(body: unknown, { properties, required }: TObject): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const optional = new Set(Object.keys(properties));
  for (const name of required) optional.delete(name);
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || !optional.has(name)),
  );
}

const knownMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/**
 * Adds routes to a scope, and for each of their paths a response 405 with `Allow` (RFC 9110 §15.5.6) to all
 * methods that the path does not have.
 */
export function addRoutesRefusingOthers(app: SandboxApp, addRoutes: () => void): void {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ routePath: path, method }) => {
    const methods = methodsByPath.get(path) ?? new Set();
    methodsByPath.set(path, methods);
    for (const one of [method].flat()) methods.add(one);
  });
  addRoutes();
  for (const [path, allowed] of methodsByPath) {
    const allow = [...allowed].toSorted().join(', ');
    app.route({
      method: knownMethods.filter((method) => !allowed.has(method)),
      url: path,
      handler: async (request, reply) => {
        reply.header('allow', allow);
        throw new SandboxError('METHOD_NOT_ALLOWED', `this path does not take ${request.method}`);
      },
    });
  }
}
