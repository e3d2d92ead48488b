/** @import { ApiClient } from '../data/api-client.js' */
/** @import { PingAnswer } from '../../api-types.ts' */

/**
 * Sends a test to the endpoint of a subscription that is not registered yet. It is registered disabled for as
 * long as the test takes and then deleted, so nothing is left behind; a page that is closed meanwhile leaves
 * a disabled subscription whose description says what it is. Rejects with ApiError.
 * @param {ApiClient} client
 * @param {string} path of the subscriptions
 * @param {Record<string, unknown>} body of the registration
 * @returns {Promise<PingAnswer>}
 */
export async function testBeforeSaving(client, path, body) {
  const draft = { ...body, from: 'now', enabled: false, description: 'Test before saving; can be deleted' };
  const { id } = await client.send('POST', path, draft);
  const draftPath = `${path}/${encodeURIComponent(id)}`;
  try {
    return await client.send('POST', `${draftPath}/test`);
  } finally {
    await client.send('DELETE', draftPath);
  }
}
