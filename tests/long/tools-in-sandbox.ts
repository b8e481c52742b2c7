import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KEPT_CAPABILITIES } from '../../packages/runtime-docker/src/containers/container-spec.ts'
import { EngineBench, sandboxSpec } from '../../packages/runtime-docker/test/support/engine-bench.ts'
import { Inside } from '../../packages/runtime-docker/test/support/inside.ts'
import { runConfined } from '../../packages/runtime-docker/test/support/system-calls.ts'

const MINUTE = 60_000
const HOST_AUTHORITIES = '/usr/local/share/ca-certificates'
const INSTALL = 'apt-get install --yes --no-install-recommends'
const PAGE = "'data:text/html,<title>t</title><p id=p></p><script>p.textContent=6*7</script>'"
const CHROMIUM = `timeout 120 chromium --headless --disable-gpu --dump-dom ${PAGE} 2>&1`

interface Step {
  readonly name: string
  readonly command: string
  /** What the output of a success contains. */
  readonly expected: RegExp
}

/** In this order: later steps use what earlier ones have installed. */
const STEPS: readonly Step[] = [
  { name: 'apt-get update', command: 'apt-get update && echo up to date', expected: /up to date/ },
  { name: 'apt-get install', command: `${INSTALL} ca-certificates sudo gcc libc6-dev gdb strace && gdb --version`, expected: /GNU gdb/ },
  { name: 'trust the authorities of the host', command: 'update-ca-certificates', expected: /done/ },
  {
    name: 'gcc, and gdb without random addresses on a process that it starts',
    command: `printf 'int seven(void) { return 7; }\\nint main(void) { return seven() - 7; }\\n' > /tmp/a.c && gcc -g -o /tmp/a /tmp/a.c &&
      gdb --batch -ex 'break main' -ex run -ex 'print 6 * seven()' -ex continue /tmp/a 2>&1`,
    expected: /^(?![^]*(?:disabling address space|Operation not permitted))[^]*\$1 = 42[^]*exited normally/,
  },
  {
    name: 'gdb on a process that runs',
    command: "sleep 60 & gdb --batch -p $! -ex 'info inferiors' -ex detach 2>&1; kill $!",
    expected: /^(?![^]*not permitted)[^]*process \d+/,
  },
  { name: 'strace', command: 'strace -f -e trace=openat sh -c "cat /etc/hostname" 2>&1', expected: /openat\(.*\/etc\/hostname/ },
  {
    name: 'npm install',
    command: `${INSTALL} npm >/dev/null && mkdir -p /tmp/n && cd /tmp/n && NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm install is-number@7 && node -p 'require("is-number")(5)'`,
    expected: /true\s*$/,
  },
  {
    name: 'pip install',
    command: `${INSTALL} python3-venv >/dev/null && python3 -m venv /tmp/v && PIP_CERT=/etc/ssl/certs/ca-certificates.crt /tmp/v/bin/pip install six==1.17.0 && /tmp/v/bin/python -c 'import six; print(six.PY3)'`,
    expected: /True\s*$/,
  },
  {
    name: 'install Chromium',
    command: `${INSTALL} chromium chromium-sandbox && useradd --create-home web && echo made`,
    expected: /made\s*$/,
  },
]

/** Each is run with the profile of sandboxes and with the engine's own: they must do the same. */
const BROWSERS: readonly Step[] = [
  { name: 'Chromium of root, --no-sandbox', command: `${CHROMIUM} --no-sandbox`, expected: />42</ },
  { name: 'Chromium of a user, --no-sandbox', command: `su web -c "${CHROMIUM} --no-sandbox"`, expected: />42</ },
  { name: 'Chromium of a user with its own sandbox', command: `su web -c "${CHROMIUM}"`, expected: />42</ },
]

/**
 * Installs and runs package managers, debuggers and a browser in a sandbox: `npm run long:tools`, some minutes and 1 GB. Exits with 1 when
 * one of them fails, or when Chromium does not work as with the default profile of the engine.
 */
async function main(): Promise<boolean> {
  await using bench = await EngineBench.open()
  const runtime = await bench.runtime()
  const spec = sandboxSpec({ resources: { cpuCount: 2, memoryMib: 2048, diskMib: 4096 } })
  const inside = new Inside(await runtime.create(spec))
  await inside.sh(`mkdir -p ${HOST_AUTHORITIES}`)
  for (const name of authorities()) await inside.writeFile(join(HOST_AUTHORITIES, name), readFileSync(join(HOST_AUTHORITIES, name), 'utf8'))
  let isGood = true
  for (const step of STEPS) isGood = (await run(inside, step)).isGood && isGood
  const { image } = await runtime.snapshot(spec, { name: 'browsers', keep: 'files' })
  for (const step of BROWSERS) {
    const here = await run(inside, step)
    const plain = await runConfined(bench.docker, ['/bin/sh', '-c', step.command], { image, capabilities: KEPT_CAPABILITIES })
    const isAlike = here.isGood === step.expected.test(plain)
    console.log(
      `  with the engine's own profile it ${step.expected.test(plain) ? 'works' : 'does not work'}${isAlike ? '' : ': NOT ALIKE'}`,
    )
    isGood &&= isAlike
  }
  return isGood
}

async function run(inside: Inside, { name, command, expected }: Step): Promise<{ readonly isGood: boolean }> {
  const began = performance.now()
  const { code, stdout, stderr } = await inside.sh(`export DEBIAN_FRONTEND=noninteractive; ${command}`, 10 * MINUTE)
  const isGood = expected.test(stdout)
  console.log(`${isGood ? 'works' : 'does not work'}: ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  if (!isGood) console.log(`  ${code}\n${`${stdout}${stderr}`.split('\n').slice(-12).join('\n')}`)
  return { isGood }
}

/** Where the host's network presents certificates of its own, sandboxes must trust them too. */
function authorities(): string[] {
  try {
    return readdirSync(HOST_AUTHORITIES).filter((name) => name.endsWith('.crt'))
  } catch {
    return []
  }
}

process.exitCode = (await main()) ? 0 : 1
