import { createServer } from 'node:net';

// Loaded into the process to be measured (`node --import`): it answers every byte on a socket with the
// processor time that the main thread has taken so far, in microseconds. Time in which other processes have
// the processor does not count, unlike in a measurement by the clock.
const path = process.env['METER_SOCKET'];
if (path !== undefined) {
  createServer((socket) => {
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('data', () => {
      const { user, system } = process.threadCpuUsage();
      socket.write(`${user + system}\n`);
    });
  })
    .listen(path)
    .unref();
}
