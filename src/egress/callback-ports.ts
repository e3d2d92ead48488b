/**
 * Services above port 1023 that read whatever they are sent: databases, caches, brokers, remote
 * administration, and those of the "bad ports" of the Fetch standard (§2.9) that lie there.
 */
const REFUSED_HIGH_PORTS = new Set([
  1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3268, 3269, 3306, 3389, 3659,
  4045, 4190, 4369, 5060, 5061, 5432, 5671, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566, 6665,
  6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9160, 9200, 9300, 9418, 10080, 10250, 10255, 11211, 15672,
  16379, 26379, 27017, 27018, 27019, 61616,
]);

/**
 * Whether callbacks may go to a port, given as `URL.port` ("" is the scheme's own). Below 1024 only 80 and
 * 443 carry callbacks; above, every port but those of well-known services that are not web applications.
 */
export function isCallbackPort(port: string): boolean {
  if (port === '') return true;
  const number = Number(port);
  if (number < 1024) return number === 80 || number === 443;
  return !REFUSED_HIGH_PORTS.has(number);
}
