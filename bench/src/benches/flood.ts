import { setTimeout } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import type { Comparison } from '../report.ts'
import { timeMs, type Samples } from '../samples.ts'

/** Each fills one processor for `seconds`. They send to a documentation network, where nobody answers. */
const FLOODS = {
  'UDP packets': `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while time.time() < end: s.sendto(b'x' * 512, ('203.0.113.200', 9000 + n % 1000)); n += 1`,
  'new TCP connections': `
while time.time() < end:
    s = socket.socket(); s.setblocking(False); s.connect_ex(('203.0.113.200', 1 + n % 60000)); s.close(); n += 1`,
  'DNS lookups': `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server = [l.split()[1] for l in open('/etc/resolv.conf') if l.startswith('nameserver')][0]
while time.time() < end:
    s.sendto(b'\\x00\\x01\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x08%08d\\x07example\\x03com\\x00\\x00\\x01\\x00\\x01' % (n % 100000000), (server, 53)); n += 1`,
  'connections to the egress gateway': `
while time.time() < end:
    s = socket.socket(); s.settimeout(1)
    try: s.connect(('203.0.113.200', 443)); s.sendall(b'x')
    except OSError: pass
    s.close(); n += 1`,
}
/** With a domain in it, connections to port 443 go to the egress gateway. */
const NETWORK = { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] }
const NO_PACKETS = 'while time.time() < end: n += 1'
const PROCESSES = 2
const SECONDS = 12
const SETTLE_MS = 1500
const ROUNDS = 60

/** `true` in a sandbox while its neighbour floods the network, compared with a neighbour that uses as many processors without packets. */
export async function benchFlood(): Promise<Comparison[]> {
  const create = (network = {}): Promise<Sandbox> => Sandbox.create({ timeoutMs: 600_000, network })
  const [open, named, neighbour] = await Promise.all([create(), create(NETWORK), create()])
  try {
    const rows: Comparison[] = []
    for (const [name, script] of Object.entries(FLOODS)) {
      const flooding = name.includes('gateway') ? named : open
      const quiet = await beside(flooding, NO_PACKETS, neighbour)
      const ours = await beside(flooding, script, neighbour)
      const against = { name: 'no packets', samples: quiet }
      rows.push({ what: `\`true\` beside a flood of ${name}`, unit: 'ms', ours, against, goal: { of: 'ratio', at: ['p50'], atMost: 2 } })
    }
    return rows
  } finally {
    await Promise.all([open, named, neighbour].map((sandbox) => sandbox.kill()))
  }
}

async function beside(flooding: Sandbox, script: string, neighbour: Sandbox): Promise<Samples> {
  const program = `import socket, time\nend, n = time.time() + ${SECONDS}, 0\n${script}\n`
  await flooding.files.write('/tmp/load.py', program)
  const loads = await Promise.all(
    Array.from({ length: PROCESSES }, () => flooding.commands.run('python3 /tmp/load.py', { background: true, timeoutMs: 60_000 })),
  )
  await setTimeout(SETTLE_MS)
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round++) samples.push(await timeMs(() => neighbour.commands.run('true')))
  await Promise.all(loads.map((load) => load.wait()))
  return samples
}
