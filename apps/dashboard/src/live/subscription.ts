import type { ServerFrame } from '@sandyard/dashboard-contract/live/frames'

/** What is to be done with a frame of a subscription. */
export type Verdict = 'ignore' | 'snapshot' | 'patch' | 'resubscribe' | 'refused'

/** A topic of the socket: which subscription is the current one, and which patch is the next. */
export interface Subscription {
  /** 0: none in this socket. */
  id: number
  /** Of the last snapshot (0) or patch; undefined before the snapshot. */
  seq: number | undefined
}

/** Moves a subscription on by a frame. A patch out of order, or before the snapshot, and `gap` mean: subscribe again. */
export function judgeFrame(subscription: Subscription, frame: ServerFrame): Verdict {
  if (!('id' in frame) || frame.id === undefined || frame.id !== subscription.id) return 'ignore'
  if (frame.t === 'snapshot') {
    subscription.seq = 0
    return 'snapshot'
  }
  if (frame.t === 'patch') {
    if (subscription.seq === undefined || frame.seq !== subscription.seq + 1) return 'resubscribe'
    subscription.seq = frame.seq
    return 'patch'
  }
  return frame.t === 'gap' ? 'resubscribe' : 'refused'
}
