/** DbTicket, in the order of its fields. */
export type Ticket = Readonly<{ Id: string; Accepted: boolean; Error: string }>;
/** DbResult, in the order of its fields. */
export type TakenResult = Readonly<{ Id: string; State: string; Status: number; Code: string; Json: string }>;

export function refusedTicket(reason: string): Ticket {
  return { Id: '', Accepted: false, Error: reason };
}
