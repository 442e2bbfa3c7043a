/** A table whose values a spreadsheet likes to change: long digits, leading zeros, what looks like a date or a formula. */
export const LEDGER = {
  name: 'ledger',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 60, nullable: true },
    { name: 'money', type: 'decimal', precision: 34, scale: 4, nullable: true },
    { name: 'speed', type: 'float64', nullable: true },
    { name: 'alive', type: 'bool', nullable: true },
    { name: 'data', type: 'json', nullable: true },
    { name: 'seen', type: 'datetime', nullable: true },
    { name: 'born', type: 'date', nullable: true },
    { name: 'token', type: 'uuid', nullable: true },
    { name: 'picture', type: 'bytes', nullable: true },
  ],
};

/** Its rows as JSON lines, which keep every digit. */
export const LEDGER_LINES = String.raw`
{"id":9223372036854775807,"name":"007","money":"123456789012345678901234567890.1234","speed":0.1,"alive":true}
{"id":9007199254740993,"name":"1e5","money":"-0.0001","speed":1e300,"alive":false,"data":{"a":[1,"x,\"y\"",null]}}
{"id":3,"name":"3-4","money":"1","seen":"2026-03-29T01:30:00.123Z","born":"2024-02-29"}
{"id":4,"name":"=1+1","token":"0197f3a2-58a1-7000-8000-000000000001","picture":"AAECAwQ="}
{"id":5,"name":"Grüße, \"Zoë\" 日本 🎲","data":"a text","born":"1999-12-31"}
{"id":6,"name":"two\nlines; and, marks","money":"0.5000","speed":-2.5}
{"id":7,"name":"","data":[]}
{"id":8,"name":" spaces ","data":7}
{"id":9,"name":"TRUE","seen":"0001-01-01T00:00:00.000Z"}
`.trimStart();
