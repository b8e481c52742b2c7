import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ImageRoot } from './support/image-root.ts'

const ALL = 'sudo curl ca-certificates git less jq socat iproute2 iputils-ping procps'
const PROGRAMS = ['sudo', 'curl', 'git', 'less', 'jq', 'socat', 'ss', 'ping', 'ps']
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt'

/**
 * A package manager as a shell script: it records its arguments and "installs" the programs that the mirror has.
 *
 * @param condition a shell condition that is true if the call must fail
 */
function manager(condition: string): string {
  return `#!/bin/sh
echo "$*" >> calls
echo "output of $1"
if ${condition}; then echo "E: the mirror is gone" >&2; exit 100; fi
for word in "$@"; do
  case $word in
    iproute*) word=ss ;; iputils*) word=ping ;; procps*) word=ps ;;
    ca-certificates) mkdir -p etc/ssl/certs; : > ${CERTIFICATES}; continue ;;
    -*|*=*|update|install|add) continue ;;
  esac
  printf x > usr/bin/$word; chmod 755 usr/bin/$word
done
`
}

async function provision(files: Readonly<Record<string, string>>, programs: Readonly<Record<string, string>>): Promise<ImageRoot> {
  const image = await ImageRoot.create({ 'bin/sh': '', 'volume/bin/bash': '', ...files })
  for (const [name, text] of Object.entries(programs)) await image.write(`usr/bin/${name}`, text, 0o755)
  await image.run('provision', { user: 'user', installPackages: true })
  return image
}

const calls = async (image: ImageRoot): Promise<string[]> => (await image.read('calls')).trim().split('\n')

it('installs the missing packages, sudo included, in one call', async () => {
  await using image = await provision({ 'etc/skel/.profile': '' }, { 'apt-get': manager('false'), jq: '', ps: '' })
  const [update, install, ...more] = await calls(image)
  expect([update, install, more]).toEqual([
    expect.stringMatching(/ update$/),
    expect.stringMatching(/ install --yes --no-install-recommends sudo curl ca-certificates git less socat iproute2 iputils-ping$/),
    [],
  ])
  expect(image.lines).toEqual([
    'installing with apt-get: sudo, curl, ca-certificates, git, less, socat, iproute2, iputils-ping',
    'output of -q',
    'output of -q',
  ])
  expect(await image.read('etc/sudoers.d/sandyard-user')).toBe('user ALL=(ALL:ALL) NOPASSWD: ALL\n')
})

it.for([
  ['apk', `add --no-cache --no-progress ${ALL.replace('iputils-ping', 'iputils')}`],
  ['dnf', 'iproute iputils procps-ng'],
  ['microdnf', 'iproute iputils procps-ng'],
  ['pacman', 'iproute2 iputils procps-ng'],
  ['zypper', 'iproute2 iputils procps'],
] as const)('knows the names of %s', async ([program, end]) => {
  await using image = await provision({}, { [program]: manager('false') })
  expect(await calls(image)).toEqual([expect.stringMatching(new RegExp(`${end}$`))])
  expect(image.lines.filter((line) => line.startsWith('warning: '))).toEqual([])
})

it('continues without a package that the mirror does not have', async () => {
  await using image = await provision({}, { apk: manager('case "$*" in *socat*) true ;; *) false ;; esac') })
  expect(await readdir(join(image.path, 'usr/bin'))).toEqual(['apk', ...PROGRAMS.filter((name) => name !== 'socat')].toSorted())
  expect(image.lines.filter((line) => line.startsWith('warning: '))).toEqual(['warning: not installed: socat: E: the mirror is gone'])
})

it('tries sudo alone before it gives up, and does not change the package lists of the image', async () => {
  const list = 'var/lib/apt/lists/mirror_dists_stable_main_binary-amd64_Packages'
  const others = ALL.split(' ').slice(1).join(', ')
  await using image = await provision({ [list]: 'x' }, { 'apt-get': manager('case "$*" in *recommends\\ sudo) false ;; *) true ;; esac') })
  const [, , alone, ...more] = await calls(image)
  expect([alone, more]).toEqual([expect.stringMatching(/ install --yes --no-install-recommends sudo$/), [expect.stringMatching(/ curl$/)]])
  expect(image.lines.filter((line) => line.startsWith('warning: '))).toEqual([`warning: not installed: ${others}: E: the mirror is gone`])
  expect(await image.read(list)).toBe('x')
})

it('warns about packages that cannot be installed, without failing', async () => {
  const others = ALL.split(' ').slice(1).join(', ')
  await using offline = await provision({}, { apk: manager('true') })
  expect(offline.lines.slice(-2)).toEqual([
    'warning: sudo could not be installed: E: the mirror is gone',
    `warning: not installed: ${others}: E: the mirror is gone`,
  ])
  await using none = await provision({}, {})
  const problem = 'the image has no package manager that is known'
  expect(none.lines).toEqual([`warning: sudo could not be installed: ${problem}`, `warning: not installed: ${others}: ${problem}`])
  expect(await none.list('etc')).toHaveLength(2)
})

it('runs no package manager if everything is installed', async () => {
  const programs = Object.fromEntries(PROGRAMS.map((name) => [name, '']))
  await using image = await provision({ [CERTIFICATES]: '' }, { ...programs, 'apt-get': manager('true') })
  expect(image.lines).toEqual([])
})
