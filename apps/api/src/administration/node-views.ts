import type { Node, NodeDetail, NodeStatus } from '@sandyard/api-contract/nodes/node'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import type { NodeRow } from '../servers/nodes.ts'

const MIB = 1024 ** 2
const UNKNOWN = 'unknown'

/** What cannot be read is 0 or `unknown`. @param clusterId - of all nodes */
export function toNodeDetail(row: NodeRow, clusterId: string): NodeDetail {
  const { machine, creates } = row.vitals
  return {
    version: row.version,
    commit: row.vitals.commit ?? UNKNOWN,
    id: String(row.server_id),
    // A server of an earlier release has none.
    serviceInstanceID: row.service_instance ?? NIL_UUID,
    clusterID: clusterId,
    machineInfo: {
      cpuFamily: machine?.family ?? UNKNOWN,
      cpuModel: machine?.model ?? UNKNOWN,
      cpuModelName: machine?.modelName ?? UNKNOWN,
      cpuArchitecture: machine?.architecture ?? UNKNOWN,
    },
    status: statusOf(row),
    statusChangedAt: row.changed_at.toISOString(),
    sandboxCount: row.sandboxes,
    metrics: metricsOf(row),
    createSuccesses: creates?.succeeded ?? 0,
    createFails: creates?.failed ?? 0,
  }
}

export function toNode(row: NodeRow, clusterId: string): Node {
  return { ...toNodeDetail(row, clusterId), sandboxStartingCount: row.starting }
}

function statusOf({ is_alive: isAlive, is_draining: shutsDown, wanted_status: wanted }: NodeRow): NodeStatus {
  if (!isAlive) return 'unhealthy'
  return shutsDown ? 'draining' : wanted
}

function metricsOf({ vitals, capacity, cpu_count: cpuCount, memory_mib: memoryMib }: NodeRow): NodeDetail['metrics'] {
  const { memory, hugePages, disk } = vitals
  return {
    allocatedCPU: cpuCount,
    cpuPercent: vitals.cpuPercent ?? 0,
    cpuCount: capacity.cpuCount ?? 0,
    allocatedMemoryBytes: memoryMib * MIB,
    memoryUsedBytes: memory?.usedBytes ?? 0,
    memoryTotalBytes: memory?.totalBytes ?? (capacity.memoryMib ?? 0) * MIB,
    hugePagesTotal: hugePages?.total ?? 0,
    hugePagesUsed: hugePages?.used ?? 0,
    hugePagesReserved: hugePages?.reserved ?? 0,
    hugePageSizeBytes: hugePages?.pageBytes ?? 0,
    // The engine tells the size of the file system with its files, and not what it is.
    disks: disk === undefined ? [] : [{ mountPoint: '/', device: UNKNOWN, filesystemType: UNKNOWN, ...disk }],
  }
}
