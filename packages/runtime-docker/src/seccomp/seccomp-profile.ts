import { createHash } from 'node:crypto'
import { ALLOWED_CALLS, CAPABILITY_CALLS, PROCESSOR_CALLS } from './allowed-calls.ts'
import { ALLOWED_FAMILIES, DENIED_FAMILIES } from './denied-calls.ts'

/** A profile in the engine's format: like that of the OCI runtime, with conditions that the engine resolves for each container. */
interface SeccompProfile {
  readonly defaultAction: string
  readonly defaultErrnoRet: number
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures: readonly string[] }[]
  readonly syscalls: readonly SeccompRule[]
}

interface SeccompRule {
  readonly names: readonly string[]
  readonly action: string
  readonly errnoRet?: number
  readonly args?: readonly { readonly index: number; readonly value: number; readonly valueTwo?: number; readonly op: string }[]
  readonly includes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[]; readonly minKernel?: string }
  readonly excludes?: { readonly caps?: readonly string[] }
}

const ALLOW = 'SCMP_ACT_ALLOW'
const DENY = 'SCMP_ACT_ERRNO'
const EPERM = 1
const ENOSYS = 38

const WITHOUT_ADMIN = { excludes: { caps: ['CAP_SYS_ADMIN'] } }

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const CLONE_NAMESPACES = 0x7e02_0000
/** For unshare also CLONE_NEWTIME. For clone its bit belongs to the number of a signal. */
const UNSHARE_NAMESPACES = CLONE_NAMESPACES | 0x80

/** PER_LINUX, PER_LINUX32, each with UNAME26, ADDR_NO_RANDOMIZE (gdb, setarch), and the question for the present value. */
const PERSONALITIES = [0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff]

/**
 * The seccomp profile of sandboxes. It is a list of what is allowed. Denied calls fail with EPERM, those that the C libraries try first with
 * ENOSYS, so that the libraries use older ones. The engine gives calls that are newer than its libseccomp ENOSYS too.
 *
 * Three traps (github.com/opencontainers/runc/issues/2735, github.com/moby/moby/pull/52494):
 * - runc turns several conditions for one argument into alternatives, so families of sockets can only be allowed one by one;
 * - libseccomp adds `socketcall` without conditions for each rule of `socket` on 32-bit x86, unless a rule with another result stands before;
 * - runc drops a rule whose result is the default one, so that rule is ENOSYS.
 */
export const SECCOMP_PROFILE: SeccompProfile = {
  defaultAction: DENY,
  defaultErrnoRet: EPERM,
  archMap: [
    // Without x32: no distribution has programs for it, and its calls have other numbers.
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: ['SCMP_ARCH_X86'] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: ['SCMP_ARCH_ARM'] },
  ],
  syscalls: [
    { names: ['socketcall'], action: DENY, errnoRet: ENOSYS },
    // clone3 has its flags in memory, where a filter cannot see them.
    { names: ['clone3'], action: DENY, errnoRet: ENOSYS, ...WITHOUT_ADMIN },
    { names: ALLOWED_CALLS, action: ALLOW },
    // Before Linux 4.8 a traced process could pass its filter.
    { names: ['process_vm_readv', 'process_vm_writev', 'ptrace'], action: ALLOW, includes: { minKernel: '4.8' } },
    ...Object.values(ALLOWED_FAMILIES).map((family) => allowWhere('socket', 'SCMP_CMP_EQ', family)),
    ...PERSONALITIES.map((personality) => allowWhere('personality', 'SCMP_CMP_EQ', personality)),
    { ...allowWhere('clone', 'SCMP_CMP_MASKED_EQ', CLONE_NAMESPACES), ...WITHOUT_ADMIN },
    { ...allowWhere('unshare', 'SCMP_CMP_MASKED_EQ', UNSHARE_NAMESPACES), ...WITHOUT_ADMIN },
    ...Object.entries(PROCESSOR_CALLS).map(([arch, names]) => ({ names, action: ALLOW, includes: { arches: [arch] } })),
    ...Object.entries(CAPABILITY_CALLS).map(([capability, names]) => ({ names, action: ALLOW, includes: { caps: [capability] } })),
    // Not NET_RAW, which every container of the engine has that is not told otherwise, among them the steps of a Dockerfile.
    { ...allowWhere('socket', 'SCMP_CMP_EQ', DENIED_FAMILIES['AF_PACKET'] ?? 0), includes: { caps: ['CAP_NET_ADMIN'] } },
  ],
}

/** The profile as the engine takes it: in a container's `SecurityOpt`, or in a file as its default. */
export const SECCOMP_JSON = JSON.stringify(SECCOMP_PROFILE)

/**
 * The name of a file with the profile. An engine names the file of its default profile in `/info`, so the name tells which version of the
 * profile the engine has.
 */
export const SECCOMP_FILE = `sandyard-seccomp-${createHash('sha256').update(SECCOMP_JSON).digest('hex').slice(0, 12)}.json`

/** With MASKED_EQ the value is the mask. */
function allowWhere(name: string, op: string, value: number): SeccompRule {
  return { names: [name], action: ALLOW, args: [{ index: 0, value, ...(op === 'SCMP_CMP_MASKED_EQ' ? { valueTwo: 0 } : {}), op }] }
}
