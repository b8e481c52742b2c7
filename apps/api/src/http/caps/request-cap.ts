/** What refuses requests, as in the label of the metric. */
export const REQUEST_CAPS = [
  'connections',
  'client_connections',
  'requests',
  'client_requests',
  'team_requests',
  'body_memory',
  'answer_memory',
] as const

export type RequestCap = (typeof REQUEST_CAPS)[number]

export type CountRefused = (cap: RequestCap) => void
