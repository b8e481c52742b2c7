import type { Check } from './check.ts'
import { engineAnswers } from './checks/e1-engine-answers.ts'
import { engineVersion } from './checks/e2-engine-version.ts'
import { knownHoles } from './checks/e3-known-holes.ts'
import { runtimeThere } from './checks/e4-runtime-there.ts'
import { profilesOn } from './checks/e5-profiles-on.ts'
import { seccompLetsThrough } from './checks/e6-seccomp-lets-through.ts'
import { restartsEndSandboxes } from './checks/e7-restarts-end-sandboxes.ts'
import { engineExposed } from './checks/e8-engine-exposed.ts'
import { storageDriver } from './checks/s1-storage-driver.ts'
import { diskQuota } from './checks/s2-disk-quota.ts'
import { spaceAndInodes } from './checks/s3-space-and-inodes.ts'
import { whatGcWouldFree } from './checks/s4-what-gc-would-free.ts'
import { imageDepth } from './checks/s5-image-depth.ts'
import { kernelAndArchitecture } from './checks/k1-kernel-and-architecture.ts'
import { controlGroups } from './checks/k2-control-groups.ts'
import { processes } from './checks/k3-processes.ts'
import { terminals } from './checks/k4-terminals.ts'
import { inotify } from './checks/k5-inotify.ts'
import { openFiles } from './checks/k6-open-files.ts'
import { connectionTracking } from './checks/k7-connection-tracking.ts'
import { keyrings } from './checks/k8-keyrings.ts'
import { memory } from './checks/m1-memory.ts'
import { clock } from './checks/m2-clock.ts'
import { ports } from './checks/n1-ports.ts'
import { binding } from './checks/n2-binding.ts'
import { forwardingAndRules } from './checks/n3-forwarding-and-rules.ts'
import { subnets } from './checks/n4-subnets.ts'
import { names } from './checks/n5-names.ts'
import { egress } from './checks/n6-egress.ts'
import { registries } from './checks/n7-registries.ts'
import { certificates } from './checks/t1-certificates.ts'
import { proxyInFront } from './checks/t2-proxy-in-front.ts'
import { sameSite } from './checks/t3-same-site.ts'
import { databaseVersion } from './checks/d1-database-version.ts'
import { databaseHealth } from './checks/d2-database-health.ts'
import { dataDirectory } from './checks/d3-data-directory.ts'
import { secrets } from './checks/d4-secrets.ts'
import { orphans } from './checks/r1-orphans.ts'
import { loops } from './checks/r2-loops.ts'
import { daemonAndClients } from './checks/r3-daemon-and-clients.ts'
import { backup } from './checks/r4-backup.ts'
import { roundTrip } from './checks/r5-round-trip.ts'

export interface CheckGroup {
  readonly title: string
  readonly checks: readonly Check[]
}

/** Every check, in the order of dashboard-and-cli.md 6.1. */
export const GROUPS: readonly CheckGroup[] = [
  {
    title: 'Engine',
    checks: [engineAnswers, engineVersion, knownHoles, runtimeThere, profilesOn, seccompLetsThrough, restartsEndSandboxes, engineExposed],
  },
  { title: 'Storage', checks: [storageDriver, diskQuota, spaceAndInodes, whatGcWouldFree, imageDepth] },
  {
    title: 'Kernel',
    checks: [kernelAndArchitecture, controlGroups, processes, terminals, inotify, openFiles, connectionTracking, keyrings],
  },
  { title: 'Machine', checks: [memory, clock] },
  { title: 'Network', checks: [ports, binding, forwardingAndRules, subnets, names, egress, registries] },
  { title: 'TLS', checks: [certificates, proxyInFront, sameSite] },
  { title: 'Database and data', checks: [databaseVersion, databaseHealth, dataDirectory, secrets] },
  { title: 'Running', checks: [orphans, loops, daemonAndClients, backup, roundTrip] },
]
