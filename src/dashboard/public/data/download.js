/** @import { ApiClient } from './api-client.js' */

/**
 * Saves an answer of the API as a file. Rejects with ApiError.
 * @param {ApiClient} client
 * @param {string} path
 * @param {string} mediaType which the answer shall have
 * @param {string} name of the file
 */
export async function download(client, path, mediaType, name) {
  const response = await client.open(path, { accept: mediaType }, new AbortController().signal);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
