import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

/** Numbers of the interface up to 2^64; ours stay below 2^53. */
function amount(description: string) {
  return Type.Integer({ minimum: 0, description })
}

const DiskMetrics = Type.Object(
  {
    mountPoint: Type.String(),
    device: Type.String(),
    filesystemType: Type.String(),
    usedBytes: amount('Used bytes'),
    totalBytes: amount('Size in bytes'),
  },
  { title: 'DiskMetrics' },
)

const NodeMetrics = Type.Object(
  {
    allocatedCPU: amount('CPU cores of the running sandboxes'),
    cpuPercent: amount('Use of the CPU of the host'),
    cpuCount: amount('CPU cores of the host'),
    allocatedMemoryBytes: amount('Memory limits of the running sandboxes'),
    memoryUsedBytes: amount('Used memory of the host'),
    memoryTotalBytes: amount('Memory of the host'),
    hugePagesTotal: amount('Huge pages of the host'),
    hugePagesUsed: amount('Huge pages in use'),
    hugePagesReserved: amount('Huge pages that are reserved'),
    hugePageSizeBytes: amount('Size of a huge page'),
    disks: Type.Array(DiskMetrics),
  },
  { title: 'NodeMetrics' },
)

const MachineInfo = Type.Object(
  { cpuFamily: Type.String(), cpuModel: Type.String(), cpuModelName: Type.String(), cpuArchitecture: Type.String() },
  { title: 'MachineInfo' },
)

const STATUSES = ['ready', 'draining', 'connecting', 'unhealthy', 'standby'] as const
export type NodeStatus = (typeof STATUSES)[number]

const NodeStatus = Type.Unsafe<NodeStatus>({
  type: 'string',
  enum: [...STATUSES],
  description: 'Nodes that are draining or on standby get no new sandboxes; existing ones continue',
})

const detail = {
  version: Type.String({ description: 'Version of the server' }),
  commit: Type.String({ description: 'Commit of the server' }),
  id: Type.String({ description: 'Identifier of the node' }),
  serviceInstanceID: Type.String({ description: 'Identifier of this run of the server' }),
  clusterID: Type.String({ description: 'Identifier of the engine that the nodes share' }),
  machineInfo: MachineInfo,
  status: NodeStatus,
  statusChangedAt: DateTime('Since when'),
  sandboxCount: Type.Integer({ format: 'uint32', minimum: 0, description: 'Running sandboxes' }),
  metrics: NodeMetrics,
  createSuccesses: amount('Creates that succeeded'),
  createFails: amount('Creates that failed'),
}

/** A node in a list (control-plane.md 13.1). */
export const Node = Type.Object(
  { ...detail, sandboxStartingCount: Type.Integer({ format: 'int32', description: 'Sandboxes that start' }) },
  { title: 'Node' },
)
export type Node = Static<typeof Node>

export const NodeDetail = Type.Object(detail, { title: 'NodeDetail' })
export type NodeDetail = Static<typeof NodeDetail>

const clusterID = Type.Optional(Type.String({ description: 'Only nodes of this cluster' }))

/** Query of `GET /nodes` and `GET /nodes/{nodeID}`. */
export const NodeQuery = Type.Object({ clusterID })

/** Body of `POST /nodes/{nodeID}`. */
export const NodeStatusChange = Type.Object({ status: NodeStatus, clusterID }, { title: 'NodeStatusChange' })
