// npm install standardwebhooks
import { createServer } from 'node:http';
import process from 'node:process';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? ''); // throws without a secret

createServer(async (request, response) => {
  try {
    if (!(Number(request.headers['content-length']) <= 1_000_000)) throw new Error('too large');
    const event = webhook.verify(await buffer(request), request.headers);
    console.log(event.type, event.data.filingId); // store the event here, and work on it later
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(401).end(error.message);
  }
}).listen(process.env.PORT ?? 8080);
