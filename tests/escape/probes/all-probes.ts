import type { Probe } from '../probe.ts'
import { DAEMON_PROBES } from './daemon-probes.ts'
import { FILE_PROBES } from './file-probes.ts'
import { FRAME_PROBES } from './frame-probes.ts'
import { KERNEL_PROBES } from './kernel-probes.ts'
import { NETWORK_PROBES, OFFLINE_PROBES, PUBLIC_ADDRESS } from './network-probes.ts'
import { PRIVILEGE_PROBES } from './privilege-probes.ts'

/** The probes in the order of the table. */
export const ALL_PROBES: readonly Probe[] = [
  PUBLIC_ADDRESS,
  ...NETWORK_PROBES,
  ...OFFLINE_PROBES,
  ...FRAME_PROBES,
  ...FILE_PROBES,
  ...PRIVILEGE_PROBES,
  ...DAEMON_PROBES,
  ...KERNEL_PROBES,
]
