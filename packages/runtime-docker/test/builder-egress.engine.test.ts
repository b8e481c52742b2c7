import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxEndpoint, SandboxSpec } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import type { EngineBench } from './support/engine-bench.ts'
import { sandboxSpec } from './support/engine-bench.ts'
import { openOutsideBench } from './support/outside-bench.ts'
import type { OutsideWorld } from './support/outside-world.ts'
import { HOST_ADDRESS, OUTSIDE, type Bystander } from './support/outside-world.ts'
import { buildTestImage, ensureToolImage } from './support/test-images.ts'

/**
 * Sends a DNS query in raw frames, which the rules for packets do not cover, and prints "answered" when an answer comes back. The
 * gateway's hardware address is in the neighbour table after the first packet to it.
 */
const RAW_QUERY = String.raw`
use strict; use Socket;
my ($target) = @ARGV;
my ($own) = ${'`hostname -i`'} =~ /([\d.]+)/;
(my $gateway = $own) =~ s/\d+$/1/;
socket(my $hello, AF_INET, SOCK_DGRAM, 0); send($hello, 'x', 0, pack_sockaddr_in(9, inet_aton('198.51.100.10'))); select(undef, undef, undef, 0.3);
my $mac = ''; open(my $arp, '<', '/proc/net/arp'); while (<$arp>) { $mac = $1 if /^\Q$gateway\E\s.*?((?:[0-9a-f]{2}:){5}[0-9a-f]{2})/ }
open(my $self, '<', '/sys/class/net/eth0/address'); chomp(my $from = <$self>);
open(my $index, '<', '/sys/class/net/eth0/ifindex'); chomp(my $ifindex = <$index>);
my $bytes = sub { pack('H12', join('', split(/:/, $_[0]))) };
my $query = pack('n6', 7, 0x0100, 1, 0, 0, 0) . "\1a\0" . pack('n2', 1, 1);
my $udp = pack('n4', 4053, 53, 8 + length $query, 0) . $query;
my $header = sub { pack('CCnnnCCn', 0x45, 0, 20 + length $udp, 1, 0, 64, 17, $_[0]) . inet_aton($own) . inet_aton($target) };
my $sum = 0; $sum += $_ for unpack('n*', $header->(0)); $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
my $frame = $bytes->($mac) . $bytes->($from) . pack('n', 0x0800) . $header->(~$sum & 0xffff) . $udp;
socket(my $raw, 17, SOCK_RAW, unpack('S', pack('n', 3))) or die "no raw socket: $!";
my $place = pack('SnlSCC', 17, 3, $ifindex, 1, 0, 6) . $bytes->($mac) . "\0\0";
bind($raw, $place) or die "bind: $!";
send($raw, $frame, 0, $place) or print "refused: $!\n";
my $until = time + 4;
while (time < $until) {
  my $ready = ''; vec($ready, fileno($raw), 1) = 1;
  next unless select($ready, undef, undef, 0.2);
  recv($raw, my $answer, 2000, 0);
  next unless substr($answer, 12, 2) eq pack('n', 0x0800) && substr($answer, 26, 4) eq inet_aton($target);
  print "answered\n"; exit;
}
print "silence\n";
`

const installation = `test-${randomId(8)}`

describe("the steps of a Dockerfile in the sandbox's network", () => {
  const stack = new AsyncDisposableStack()
  let world: OutsideWorld
  let runtime: DockerRuntime
  let witness: Bystander
  let image: string
  let within: SandboxSpec
  let gateway: string
  let neighbour: SandboxEndpoint

  beforeAll(async () => {
    const script = Buffer.from(RAW_QUERY).toString('base64')
    const buildImage = async ({ docker }: EngineBench): Promise<string> =>
      buildTestImage(docker, 'raw-query', `FROM ${await ensureToolImage(docker)}\nRUN echo ${script} | base64 -d > /raw-query.pl\n`)
    ;({ world, runtime, image, witness } = await openOutsideBench(stack, { installation, resolvers: [OUTSIDE.public], buildImage }))
    within = sandboxSpec({ image })
    const { host } = await runtime.create(within)
    gateway = host.replace(/\.\d+$/, '.1')
    neighbour = await runtime.create(sandboxSpec({ image }))
  })
  afterAll(() => stack.disposeAsync())

  /** The output of a command in a step. */
  async function inStep(command: string): Promise<string> {
    const lines: string[] = []
    const dockerfile = `FROM ${image}\nRUN ${command}`
    const built = await runtime.images.buildDockerfile({ dockerfile, within, force: true, onLine: (line) => lines.push(line) })
    await runtime.images.remove(built.image)
    return lines.filter((line) => !line.startsWith('Step ')).join('\n')
  }

  it('reach public addresses and no closed address', async () => {
    const doors: [string, string, number][] = [
      ['public', OUTSIDE.public, OUTSIDE.port],
      ['metadata', OUTSIDE.metadata, OUTSIDE.port],
      ['shared', OUTSIDE.sharedSpace, OUTSIDE.port],
      ['private', OUTSIDE.private, OUTSIDE.port],
      ['gateway', gateway, world.hostPort],
      ['host', HOST_ADDRESS, world.hostPort],
      ['neighbour', neighbour.host, neighbour.daemonPort],
    ]
    for (const [name, host, port] of doors) {
      if (host !== neighbour.host) expect(await witness.inside.dial(host, port), `${name} without rules`).toBe('open')
    }
    const dial = ([name, host, port]: [string, string, number]): string =>
      `(timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null && echo ${name} open || echo ${name} closed)`
    const told = await inStep(doors.map(dial).join('; '))
    expect(told.split('\n')).toEqual(doors.map(([name]) => `${name} ${name === 'public' ? 'open' : 'closed'}`))
  })

  it('cannot bypass the rules with raw sockets, which they may open where the engine has its own seccomp profile', async () => {
    const query = `perl /raw-query.pl ${OUTSIDE.resolver}`
    expect((await witness.inside.sh(query)).stdout, 'without rules').toBe('answered\n')
    // One stream: the lines of two come in any order.
    expect(await inStep(`${query} 2>&1 || echo denied`)).toMatch(
      /^(?:(?:refused.*\n)?silence|no raw socket: Operation not permitted.*\ndenied)$/,
    )
  })

  it('leave the sandbox reachable for the api', async () => {
    expect(await inStep('true')).toBe('')
    const endpoint = await runtime.create(within)
    expect((await fetch(`http://${endpoint.host}:${endpoint.daemonPort}/health`)).status).toBe(204)
  })
})
