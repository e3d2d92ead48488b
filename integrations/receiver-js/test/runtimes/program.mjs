// Fetch handlers on the package, for every runtime: they are called with callbacks that are signed here.
import { createReceiver, memoryStore, toFetchHandler } from '@filing-webhooks/receiver';

const bytes = new Uint8Array(32).fill(7);
const toBase64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const open = (options) =>
  toFetchHandler(createReceiver({ store: memoryStore(), handle: () => undefined, ...options }));
const withSecret = open({ secrets: `whsec_${toBase64(bytes)}` }); // outside of a request, as programs do it

/** The statuses of a callback that verifies and of a forged one, for each kind of key. */
export async function answers() {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const hmac = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ]);
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey);
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const data = { account: 'default', filingId: 'f_1', sequence: 1 };
  const body = JSON.stringify({ type: 'filing.paid', timestamp: new Date().toISOString(), data });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const content = new TextEncoder().encode(`evt_1.${timestamp}.${body}`);
  const v1 = toBase64(await crypto.subtle.sign('HMAC', hmac, content));
  const v1a = toBase64(await crypto.subtle.sign('Ed25519', pair.privateKey, content));
  const request = (signature) =>
    new Request('https://example.com/', {
      method: 'POST',
      body,
      headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature },
    });
  const withKeySet = open({
    keySetUrl: 'https://example.com/keys?subscription=sub_1',
    fetch: async () => new Response(JSON.stringify({ keys: [jwk] })),
  });
  const statuses = [];
  for (const handle of [withSecret, open({ publicKeys: `whpk_${toBase64(publicKey)}` }), withKeySet])
    for (const signature of [`v1,${v1} v1a,${v1a}`, 'v1,AAAA v1a,AAAA'])
      statuses.push((await handle(request(signature))).status);
  return statuses.join(' ');
}
