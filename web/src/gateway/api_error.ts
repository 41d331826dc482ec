// A refusal of the gateway, or status 0 if it did not answer.

export interface FieldProblem {
  field: string;
  message: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fields: FieldProblem[] = [],
    // When it may be tried again, if the gateway said so.
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  // In one line: the first field's problem if it has one.
  get line(): string {
    const [first] = this.fields;
    return first ? `${first.field}: ${first.message}` : this.message;
  }
}
